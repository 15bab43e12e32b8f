"""`mailqueue email`: look at single mails, cancel, hold, release or requeue them."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from uuid import UUID

import click

from mailqueue.cli.context import opened, run
from mailqueue.cli.email_view import print_explained
from mailqueue.cli.output import Column, Command, emit, examples, json_option, table
from mailqueue.cli.why import explained
from mailqueue.db.fetch import Conn
from mailqueue.operations import emails
from mailqueue.operations.model import Handled

EXIT_UNCHANGED = 1

_HANDLED = (Column("id", "ID"), Column("result", "RESULT"))
_ID = "019a9c2e-7d1c-7f6e-9d53-2f4f2f9c8a11"


@click.group(
    epilog=examples(
        f"mailqueue email show {_ID}",
        f"mailqueue email cancel {_ID} --reason 'sent by mistake'",
        f"mailqueue email requeue {_ID}",
    )
)
def email() -> None:
    """Show, cancel, hold, release or requeue single emails."""


def ids_argument(command: Command) -> Command:
    """Add the ids of the mails, handed over as `ids`."""
    return click.argument("ids", metavar="ID...", type=click.UUID, nargs=-1, required=True)(command)


@email.command(epilog=examples(f"mailqueue email show {_ID}"))
@click.argument("email_id", metavar="ID", type=click.UUID)
@json_option
def show(*, email_id: UUID, as_json: bool) -> None:
    """Show one email, its recipients and its attempts."""
    found = run(explained(email_id))
    if as_json:
        emit(found)
    else:
        print_explained(found)


@email.command(epilog=examples(f"mailqueue email cancel {_ID}"))
@ids_argument
@click.option("--reason", default="cancelled by an operator", show_default=True)
@json_option
def cancel(*, ids: Sequence[UUID], reason: str, as_json: bool) -> None:
    """Cancel unfinished emails; those a worker has are stopped if not handed over yet."""
    _handle(lambda conn: emails.cancel(conn, ids, reason=reason), as_json=as_json)


@email.command(epilog=examples(f"mailqueue email hold {_ID} --reason 'wait for legal'"))
@ids_argument
@click.option("--reason", default="held by an operator", show_default=True)
@json_option
def hold(*, ids: Sequence[UUID], reason: str, as_json: bool) -> None:
    """Keep pending emails until they are released."""
    _handle(lambda conn: emails.hold(conn, ids, reason=reason), as_json=as_json)


@email.command(epilog=examples(f"mailqueue email release {_ID}"))
@ids_argument
@json_option
def release(*, ids: Sequence[UUID], as_json: bool) -> None:
    """Send held emails after all."""
    _handle(lambda conn: emails.release(conn, ids), as_json=as_json)


@email.command(epilog=examples(f"mailqueue email requeue {_ID}"))
@ids_argument
@json_option
def requeue(*, ids: Sequence[UUID], as_json: bool) -> None:
    """Queue failed, expired or cancelled emails again, under the same ids."""
    _handle(lambda conn: emails.requeue(conn, ids), as_json=as_json)


def _handle(act: Callable[[Conn], Awaitable[list[Handled]]], *, as_json: bool) -> None:
    """Print what was done to each; exit 1 when something was left as it was."""

    async def acted() -> list[Handled]:
        async with opened() as app:
            return await act(app.conn)

    handled = run(acted())
    if as_json:
        emit(handled)
    else:
        table(handled, _HANDLED)
        counted = Counter(each.result.partition(":")[0] for each in handled)
        click.echo(", ".join(f"{count} {result}" for result, count in counted.items()))
    if any(each.result == "unknown" or each.result.startswith("unchanged") for each in handled):
        click.get_current_context().exit(EXIT_UNCHANGED)
