"""`mailqueue queue`: rows of the queues besides mail."""

from uuid import UUID

import click

from mailqueue.cli.queues.view import CHANGED, KEYS, ROWS, print_row
from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_result, print_rows
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import examples
from mailqueue.cli.support.shared_options import limit_option
from mailqueue.core.queues.registry import QUEUES
from mailqueue.operations import queues

MAX_ROWS = 1000
"""Rows that one command lists."""
_EXAMPLE = "019a9c2e-7d1c-7f6e-9d53-2f4f2f9c8a11"


@click.group(
    cls=CommandGroup,
    epilog=examples(
        "mailqueue queue list webhooks --status failed", f"mailqueue queue requeue {_EXAMPLE}"
    ),
)
def queue() -> None:
    """List, show, requeue and cancel rows of queues: webhook deliveries, requests of providers.

    `mailqueue status` shows how many rows each queue has. Emails have `mailqueue email`.
    """


@queue.command(
    "list",
    epilog=examples(
        "mailqueue queue list inbound",
        "mailqueue queue list webhooks --status failed --project shop --json",
    ),
)
@click.argument("name", type=click.Choice([spec.name for spec in QUEUES]), metavar="NAME")
@click.option("--status", help="Only rows in this status, such as pending, assigned or failed.")
@click.option("--project", help="Only rows of this project.")
@limit_option(MAX_ROWS)
@json_option
def list_(*, name: str, status: str | None, project: str | None, limit: int) -> None:
    """List rows of queue NAME, newest first."""
    found = execute(
        lambda app: queues.list_(app.conn, name, status=status, project=project, limit=limit)
    )
    print_rows(found, ROWS, nothing="no rows")


@queue.command(epilog=examples("mailqueue queue keys", "mailqueue queue keys --json"))
@json_option
def keys() -> None:
    """List keys in trouble, such as endpoints of webhooks that keep failing or asked for a pause.

    A key whose circuit is open is set aside: none of its rows is claimed until then.
    """
    print_rows(execute(lambda app: queues.keys(app.conn)), KEYS, nothing="no key is in trouble")


@queue.command(epilog=examples(f"mailqueue queue show {_EXAMPLE} --json"))
@click.argument("row_id", metavar="ID", type=click.UUID)
@json_option
def show(*, row_id: UUID) -> None:
    """Show a row of any queue, and its outcome or why it waits."""
    found = execute(lambda app: queues.explain(app.conn, row_id))
    print_result(found, lambda: print_row(found))


@queue.command(epilog=examples(f"mailqueue queue requeue {_EXAMPLE}"))
@click.argument("ids", metavar="ID...", type=click.UUID, nargs=-1, required=True)
@json_option
def requeue(*, ids: tuple[UUID, ...]) -> None:
    """Queue rows again that failed or are held, with their attempts at zero."""
    found = execute(lambda app: queues.requeue(app.conn, ids, by=operator()))
    print_rows(found, CHANGED, nothing="no row of these failed or is held")


@queue.command(epilog=examples(f"mailqueue queue cancel {_EXAMPLE}"))
@click.argument("ids", metavar="ID...", type=click.UUID, nargs=-1, required=True)
@json_option
def cancel(*, ids: tuple[UUID, ...]) -> None:
    """Fail rows that wait, with the reason "cancelled by …"; `queue requeue` undoes it."""
    found = execute(lambda app: queues.cancel(app.conn, ids, by=operator()))
    print_rows(found, CHANGED, nothing="no row of these waits")
