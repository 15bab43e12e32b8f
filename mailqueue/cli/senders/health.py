"""`mailqueue sender health`: circuit breakers, failures by class, last errors and fixes."""

from dataclasses import asdict

import click

from mailqueue.cli.support.answer import execute, json_option, print_facts, print_rows
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.output import Column, examples
from mailqueue.contract.page import Page
from mailqueue.senders import health as health_of
from mailqueue.senders.model import SenderHealth
from mailqueue.senders.values import circuit_of

_COLUMNS = (
    Column("project", "PROJECT"),
    Column("sender", "NAME"),
    Column("status", "STATUS"),
    Column("circuit", "CIRCUIT"),
    Column("circuit_since", "SINCE"),
    Column("failed", "FAILED 1 H"),
    Column("recommendation", "RECOMMENDATION"),
)


@click.command(
    epilog=examples(
        "mailqueue sender health",
        "mailqueue sender health relay",
        "mailqueue sender health relay --project shop --json",
    )
)
@click.argument("name", required=False)
@click.option(
    "--project", help="Project of the account.  [default: with NAME, default; otherwise all]"
)
@json_option
def health(*, name: str | None, project: str | None) -> None:
    """Show the health of accounts: circuit breaker, failures by class, last errors, fixes."""

    async def asked(app: Opened) -> list[SenderHealth]:
        if name is None:
            return await health_of.of_all(app.conn, project=project)
        return [await health_of.of_account(app.conn, project or "default", name=name)]

    found = execute(asked)
    if name is None:
        document = Page([_named(one) for one in found], None)
        print_rows(found, _COLUMNS, document=document, row=_line)
    else:
        print_facts(circuit_of(found[0]), _facts(found[0]))


def _named(one: SenderHealth) -> dict[str, object]:
    return {"project": one.project, "sender": one.sender, **asdict(circuit_of(one))}


def _line(one: SenderHealth) -> dict[str, object]:
    return {
        "project": one.project,
        "sender": one.sender,
        "status": one.status,
        "circuit": one.circuit,
        "circuit_since": one.circuit_since,
        "failed": _by_class(one),
        "recommendation": one.recommendation,
    }


def _facts(one: SenderHealth) -> list[tuple[str, object]]:
    errors = [(f"error {place}", error) for place, error in enumerate(one.last_errors, 1)]
    return [
        ("name", one.sender),
        ("project", one.project),
        ("status", one.status),
        ("reason", one.status_reason),
        ("circuit", one.circuit),
        ("since", one.circuit_since),
        ("next probe", one.next_probe_at),
        ("times opened in a row", one.openings),
        ("failed in 5 min", f"{one.recent_failures} emails to {one.recent_domains} domains"),
        ("sent meanwhile", one.recent_sent),
        ("failed in 1 h", _by_class(one)),
        ("last failure", one.last_failed_at),
        *errors,
        ("recommendation", one.recommendation),
    ]


def _by_class(one: SenderHealth) -> str | None:
    return ", ".join(f"{kind} {count}" for kind, count in sorted(one.failures.items())) or None
