"""Output of DKIM keys and their DNS records."""

from collections.abc import Sequence

import click

from mailqueue.cli.support.answer import print_result, print_rows
from mailqueue.cli.support.output import Column, paint
from mailqueue.contract.domains import DkimKeyStatus
from mailqueue.deliverability.model import DkimKey
from mailqueue.deliverability.publication import Publication, RecordState
from mailqueue.dkim.record import strings, zone_line

_KEYS = (
    Column("project", "PROJECT"),
    Column("domain", "DOMAIN"),
    Column("selector", "SELECTOR"),
    Column("kind", "KIND"),
    Column("status", "STATUS"),
    Column("seen_at", "SEEN IN DNS"),
    Column("needed_until", "RECORD NEEDED UNTIL"),
)
_FOUND = (
    Column("name", "RECORD"),
    Column("status", "STATUS"),
    Column("in_dns", "IN DNS"),
    Column("why", "WHY"),
)
FINE = frozenset({RecordState.PUBLISHED, RecordState.GONE})


def print_keys(found: Sequence[DkimKey]) -> None:
    """Print keys, one per line."""
    print_rows([document(key) for key in found], _KEYS)


def print_records(found: Sequence[DkimKey]) -> None:
    """Print the DNS records of keys, ready to paste."""

    def as_text() -> None:
        for key in found:
            click.echo(paint(f"{key.name}  ({key.algorithm.key_type}, {key.status})", bold=True))
            click.echo(f"  name:   {key.name}\n  type:   TXT\n  value:  {key.text}")
            click.echo(f"  zone:   {zone_line(key.name, key.text)}\n")
        waiting = sorted({key.domain for key in found if key.status is DkimKeyStatus.PENDING})
        for domain in waiting:
            click.echo(f"Publish these records, then run `mailqueue dkim verify {domain}`.")

    print_result([document(key) for key in found], as_text)


def print_publications(found: Sequence[Publication]) -> None:
    """Print the state of each key's record in DNS."""
    print_rows([_found(each) for each in found], _FOUND)


def document(key: DkimKey) -> dict[str, object]:
    """Return a key as a JSON object, without the private key."""
    return {
        "project": key.project,
        "domain": key.domain,
        "selector": key.selector,
        "kind": key.algorithm.key_type,
        "algorithm": key.algorithm,
        "status": key.status,
        "name": key.name,
        "type": "TXT",
        "value": key.text,
        "strings": strings(key.text),
        "zone_line": zone_line(key.name, key.text),
        "created_at": key.created_at,
        "seen_at": key.seen_at,
        "active_at": key.active_at,
        "retired_at": key.retired_at,
        "needed_until": key.needed_until,
        "revoked_at": key.revoked_at,
    }


def _found(each: Publication) -> dict[str, object]:
    more = {"in_dns": each.in_dns, "found": list(each.found), "why": each.why}
    return document(each.key) | more
