"""`mailqueue trap`: show caught emails, or run only the mail trap."""

import click

from mailqueue.cli.services import command_of
from mailqueue.cli.support.answer import (
    execute,
    json_option,
    print_message,
    print_result,
    print_rows,
    prints_json,
)
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.confirmation import asks_first
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import Column, examples, facts
from mailqueue.cli.trap.view import caught_content, caught_email, printed
from mailqueue.contract.trap import CaughtEmail, ClearedTrap
from mailqueue.core.services.registry import service_named
from mailqueue.trap import inbox
from mailqueue.trap.model import TrapMessage

_COLUMNS = (
    Column("id", "ID", numeric=True),
    Column("received_at", "CAUGHT"),
    Column("from_", "FROM"),
    Column("rcpt_to", "TO"),
    Column("subject", "SUBJECT"),
    Column("size_bytes", "BYTES", numeric=True),
)


@click.group(
    cls=CommandGroup,
    epilog=examples(
        "mailqueue trap list",
        "mailqueue trap list --search invoice --limit 20",
        "mailqueue trap show 12 --raw > message.eml",
        "mailqueue trap clear",
    ),
)
def trap() -> None:
    """Show emails caught by the built-in mail trap."""


@trap.command(
    "list",
    epilog=examples(
        "mailqueue trap list",
        "mailqueue trap list --json --limit 10",
        "mailqueue trap list --json --full --search ann@example.com",
    ),
)
@click.option(
    "--limit", type=click.IntRange(min=1), help="Maximum number of emails.  [default: all]"
)
@click.option(
    "--search", default="", metavar="TEXT", help="Filter by text in subject, sender or recipients."
)
@click.option("--full", is_flag=True, help="With --json: include text, HTML and headers.")
@json_option
def list_caught(*, limit: int | None, search: str, full: bool) -> None:
    """List caught emails, newest first."""
    if full and not prints_json():
        raise click.UsageError("--full needs --json")

    reduced = (caught_content if full else caught_email) if prints_json() else _row

    async def listed(app: Opened) -> list[CaughtEmail]:
        # Messages are reduced one by one: all of them might not fit into memory.
        found = inbox.read_all(app.conn, limit=limit, search=search)
        return [reduced(message) async for message in found]

    print_rows(execute(listed), _COLUMNS)


def _row(message: TrapMessage) -> CaughtEmail:
    """Return a line of the table, by what was stored when it was caught."""
    return CaughtEmail(
        id=message.id,
        received_at=message.received_at,
        mail_from=message.mail_from,
        rcpt_to=message.rcpt_to,
        subject=message.subject,
        from_=message.from_header,
        to=message.to_header,
        message_id="",
        size_bytes=message.size_bytes,
    )


@trap.command(epilog=examples("mailqueue trap show 12", "mailqueue trap show 12 --raw > m.eml"))
@click.argument("message_id", metavar="ID", type=int)
@click.option("--raw", is_flag=True, help="Print the message exactly as received.")
@json_option
def show(*, message_id: int, raw: bool) -> None:
    """Show one caught email."""
    if raw and prints_json():
        raise click.UsageError("--raw cannot be combined with --json")
    message = execute(lambda app: inbox.get(app.conn, message_id))
    if raw:
        click.echo(message.raw, nl=False)
    else:
        print_result(caught_content(message), lambda: _print(message))


def _print(message: TrapMessage) -> None:
    shown = printed(message)
    facts(shown.facts)
    click.echo(f"\n{shown.text}")


@trap.command(epilog=examples("mailqueue trap clear", "mailqueue trap clear --json"))
@asks_first("Delete all caught emails?")
@json_option
def clear() -> None:
    """Delete all caught emails."""
    cleared = execute(lambda app: inbox.clear(app.conn))
    print_message(
        ClearedTrap(cleared),
        f"{cleared} caught {'message' if cleared == 1 else 'messages'} deleted",
    )


trap.add_command(command_of(service_named("trap")))
