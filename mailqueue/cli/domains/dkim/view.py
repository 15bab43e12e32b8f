"""Output of DKIM keys and their DNS records."""

from collections.abc import Sequence

import click

from mailqueue.cli.support.answer import print_result, print_rows
from mailqueue.cli.support.output import Column, in_project, paint
from mailqueue.contract.domains import DkimKeyList, DkimKeyStatus
from mailqueue.contract.page import Page
from mailqueue.contract.value import Value
from mailqueue.dkim.record import zone_line
from mailqueue.domains.model import DkimKey
from mailqueue.domains.publication import Publication, RecordState
from mailqueue.domains.values import key_of, verification_of

_KEYS = (
    Column("project", "PROJECT"),
    Column("domain", "DOMAIN"),
    Column("selector", "SELECTOR"),
    Column("kind", "KIND"),
    Column("status", "STATUS"),
    Column("seen_at", "SEEN IN DNS"),
    Column("needed_until", "RECORD NEEDED UNTIL"),
    Column("checked_at", "DOMAIN CHECKED"),
    Column("records", "DKIM/SPF/DMARC"),
)
_FOUND = (
    Column("name", "RECORD"),
    Column("status", "STATUS"),
    Column("in_dns", "IN DNS"),
    Column("why", "WHY"),
)
FINE = frozenset({RecordState.PUBLISHED, RecordState.GONE})


def print_keys(keys: Sequence[DkimKey], *, project: str | None) -> None:
    """Print keys, one per line; `project` None: of all projects."""
    shown = [in_project(key_of(key), None if project else key.project) for key in keys]
    print_rows(keys, _KEYS, document=Page(shown, None), row=_row)


def print_records(keys: Sequence[DkimKey], document: Value | None = None) -> None:
    """Print the DNS records of keys, ready to paste."""

    def as_text() -> None:
        for key in keys:
            click.echo(paint(f"{key.name}  ({key.algorithm.key_type}, {key.status})", bold=True))
            click.echo(f"  name:   {key.name}\n  type:   TXT\n  value:  {key.text}")
            click.echo(f"  zone:   {zone_line(key.name, key.text)}\n")
        waiting = sorted({key.domain for key in keys if key.status is DkimKeyStatus.PENDING})
        for domain in waiting:
            click.echo(f"Publish these records, then run `mailqueue dkim verify {domain}`.")

    print_result(document or DkimKeyList([key_of(key) for key in keys]), as_text)


def print_publications(publications: Sequence[Publication]) -> None:
    """Print the state of each key's record in DNS."""
    document = Page([verification_of(each) for each in publications], None)
    print_rows(publications, _FOUND, document=document, row=_found)


def _row(key: DkimKey) -> dict[str, object]:
    return {
        "project": key.project,
        "domain": key.domain,
        "selector": key.selector,
        "kind": key.algorithm.key_type,
        "status": key.status,
        "seen_at": key.seen_at,
        "needed_until": key.needed_until,
        "checked_at": key.checked_at,
        "records": _records(key),
    }


def _records(key: DkimKey) -> str | None:
    if key.records is None:
        return None
    return "/".join(each or "-" for each in (key.records.dkim, key.records.spf, key.records.dmarc))


def _found(each: Publication) -> dict[str, object]:
    named = {"name": each.key.name, "status": each.key.status}
    return named | {"in_dns": each.in_dns, "why": each.why}
