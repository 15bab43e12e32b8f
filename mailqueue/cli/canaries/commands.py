"""`mailqueue canary`: small emails at an interval, whose absence is noticed."""

from datetime import timedelta

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_rows
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.confirmation import asks_first
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import Column, examples
from mailqueue.contract.infrastructure import Canary
from mailqueue.core.errors import InvalidField
from mailqueue.core.units import parse_duration
from mailqueue.operations import canaries

_COLUMNS = (
    Column("project", "PROJECT"),
    Column("sender", "SENDER"),
    Column("provider", "PROVIDER"),
    Column("recipient", "TO"),
    Column("every", "EVERY"),
    Column("emails_per_day", "A DAY", numeric=True),
    Column("last_sent_at", "SENT"),
    Column("last_delivered_at", "DELIVERED"),
    Column("is_late", "LATE"),
    Column("last_error", "ERROR"),
)
_NONE = "no canaries are set up"
_sender = click.argument("sender", metavar="SENDER")
_project = click.option("--project", required=True, help="Project of the sender account.")


@click.group(
    cls=CommandGroup,
    epilog=examples(
        "mailqueue canary set relay --project canary --to ops@example.com",
        "mailqueue canary list",
    ),
)
def canary() -> None:
    """Send a small email by a sender account at an interval, so that its absence is noticed."""


@canary.command(
    "set",
    epilog=examples(
        "mailqueue canary set relay --project canary --to ops@example.com",
        "mailqueue canary set relay --project canary --to ops@example.com --every 5min",
    ),
)
@_sender
@_project
@click.option("--to", "recipient", metavar="ADDRESS", required=True, help="Recipient.")
@click.option(
    "--every",
    metavar="DURATION",
    default="1min",
    show_default=True,
    help="Time between two emails, 1min to 1d.",
)
@json_option
def set_(*, sender: str, project: str, recipient: str, every: str) -> None:
    """Send an email by the account SENDER at an interval, or change that.

    They count against the limits of the account and of its project as others do: 1,440 a day at an
    interval of a minute.
    """
    wait = _interval(every)
    found = execute(
        lambda app: canaries.put(
            app.conn, project, sender, recipient=recipient, every=wait, by=operator()
        )
    )
    print_rows([found], _COLUMNS)


@canary.command("list", epilog=examples("mailqueue canary list", "mailqueue canary list --json"))
@json_option
def list_() -> None:
    """List canaries, and when the last of their newest 60 emails was sent and delivered."""
    found = execute(lambda app: canaries.list_all(app.conn))
    print_rows(found, _COLUMNS, nothing=_NONE)


@canary.command(epilog=examples("mailqueue canary remove relay --project canary --yes"))
@_sender
@_project
@asks_first("Send no more canary emails by {sender} of project {project}?")
@json_option
def remove(*, sender: str, project: str) -> None:
    """Send no more canary emails by the account SENDER; list the others."""

    async def removed(app: Opened) -> list[Canary]:
        await canaries.remove(app.conn, project, sender, by=operator())
        return await canaries.list_all(app.conn)

    print_rows(execute(removed), _COLUMNS, nothing=_NONE)


def _interval(text: str) -> timedelta:
    try:
        return parse_duration(text)
    except ValueError as exc:
        raise InvalidField("every", str(exc)) from None
