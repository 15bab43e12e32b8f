"""Operations on emails: by id with one result line each, or by filter with a count."""

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import click

from mailqueue.cli.emails.selection import Selection
from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, print_message, print_result
from mailqueue.cli.support.app import opened, run
from mailqueue.cli.support.confirmation import confirm
from mailqueue.cli.support.output import Column, table
from mailqueue.cli.support.progress import progress
from mailqueue.contract.background import BackgroundOperation
from mailqueue.contract.operations import ActionResult, BulkAction, BulkResult
from mailqueue.db.fetch import Conn
from mailqueue.operations import background, bulk
from mailqueue.operations.background import OperationVerb
from mailqueue.operations.emails import EmailOperation
from mailqueue.operations.model import BulkOperation
from mailqueue.projects import manage as projects_manage

EXIT_UNCHANGED = 1

_HANDLED = (Column("id", "ID"), Column("result", "RESULT"))


@dataclass(frozen=True, slots=True)
class EmailCommand:
    """One operation, for single emails and for all that match a filter."""

    verb: str
    past: str  # in the summary: 3 cancelled
    argument: dict[str, str]
    act: Callable[[Conn, EmailOperation], Awaitable[list[ActionResult]]]


def run_command(
    selection: Selection, command: EmailCommand, *, is_background: bool = False
) -> None:
    """Run the operation on the selected emails and print the result."""
    if selection.ids and is_background:
        raise click.UsageError("--background takes a filter, not ids")
    if selection.ids:
        operation = EmailOperation(selection.ids, operator(), is_trial=selection.is_trial)
        print_handled(execute(lambda app: command.act(app.conn, operation)))
        return
    order = BulkOperation(command.verb, selection.where, command.argument)
    matching = execute(lambda app: bulk.count(app.conn, order))
    if selection.is_trial:
        _print(command, matching=matching, done=None)
        return
    if matching:
        confirm(f"{matching} emails will be {command.past}. Continue?", is_sure=selection.is_sure)
    if is_background:
        begun = execute(lambda app: _begun(app.conn, order))
        print_message(begun, f"operation {begun.id} has begun; see `mailqueue operation list`")
        return
    done = run(_carried_out(order, matching)) if matching else None
    _print(command, matching=matching, done=done or BulkResult(0, 0))


def print_handled(handled: list[ActionResult]) -> None:
    """Print the result for each email; exit 1 when an email was left unchanged."""

    def as_text() -> None:
        table(handled, _HANDLED)
        words = ("resent" if each.result.startswith("resent") else each.result for each in handled)
        counted = Counter(word.partition(":")[0] for word in words)
        click.echo(", ".join(f"{count} {result}" for result, count in counted.items()))

    print_result(handled, as_text)
    if any(each.result == "unknown" or each.result.startswith("unchanged") for each in handled):
        click.get_current_context().exit(EXIT_UNCHANGED)


def _print(command: EmailCommand, *, matching: int, done: BulkResult | None) -> None:
    document = BulkAction(
        matched=matching,
        emails=done.emails if done else 0,
        operation=(done and done.operation) or None,
        dry_run=done is None,
    )
    text = (
        f"{matching} would be {command.past}" if done is None else f"{done.emails} {command.past}"
    )
    print_message(document, text)


async def _begun(conn: Conn, order: BulkOperation) -> BackgroundOperation:
    project = await projects_manage.find(conn, order.where["project"])
    return await background.begin(
        conn,
        project.id,
        verb=OperationVerb(order.verb),
        where={name: value for name, value in order.where.items() if name != "project"},
        reason=order.argument.get("reason", "by an operator"),
        by=operator(),
        to=order.argument.get("to"),
    )


async def _carried_out(order: BulkOperation, matching: int) -> BulkResult:
    with progress(order.verb, matching) as advance:
        async with opened() as app:
            return await bulk.carry_out(app.conn, order, by=operator(), advance=advance)
