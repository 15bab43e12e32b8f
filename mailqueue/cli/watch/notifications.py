"""`mailqueue watch notification`: messages about new mail, and what became of them."""

from uuid import UUID

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import (
    execute,
    json_option,
    print_facts,
    print_message,
    print_rows,
)
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import Column, examples
from mailqueue.cli.support.shared_options import limit_option, project_option
from mailqueue.cli.watch.options import (
    id_argument,
    pairs_of,
    user_option,
)
from mailqueue.contract.page import Page
from mailqueue.contract.watch import Notification, NotificationRetry, NotificationStatus
from mailqueue.projects.ids import project_id_of
from mailqueue.watch import notifications

_COLUMNS = (
    Column("created_at", "WHEN"),
    Column("delivery_status", "STATUS"),
    Column("sender_address", "SENDER"),
    Column("subject", "SUBJECT"),
    Column("last_error", "ERROR"),
    Column("id", "NOTIFICATION"),
)
_ID = "0197b8f0-0000-7000-8000-0000000000c2"


@click.group(cls=CommandGroup, epilog=examples("mailqueue watch notification list --status failed"))
def notification() -> None:
    """Show notifications of new mail, and deliver them again."""


@notification.command(
    "list", epilog=examples("mailqueue watch notification list --status failed --json")
)
@click.option(
    "--status",
    type=click.Choice([one.value for one in NotificationStatus]),
    help="Filter by what became of them.",
)
@user_option
@limit_option()
@project_option
@json_option
def list_(*, status: str | None, user_id: UUID | None, limit: int, project: str) -> None:
    """List notifications of the last 30 days, newest first."""
    wanted = None if status is None else NotificationStatus(status)

    async def listed(app: Opened) -> list[Notification]:
        project_id = await project_id_of(app.conn, project)
        return await notifications.list_page(
            app.conn, project_id, user_id=user_id, status=wanted, limit=limit
        )

    found = execute(listed)
    print_rows(found, _COLUMNS, document=Page(found, None))


@notification.command("show", epilog=examples(f"mailqueue watch notification show {_ID}"))
@id_argument("NOTIFICATION")
@project_option
@json_option
def show_(*, row_id: UUID, project: str) -> None:
    """Show NOTIFICATION. `mailqueue why` explains why it waits."""

    async def found(app: Opened) -> Notification:
        return await notifications.get(app.conn, await project_id_of(app.conn, project), row_id)

    one = execute(found)
    print_facts(one, pairs_of(one))


@notification.command(epilog=examples(f"mailqueue watch notification retry {_ID}"))
@click.argument("row_ids", metavar="NOTIFICATION...", type=click.UUID, nargs=-1, required=True)
@project_option
@json_option
def retry(*, row_ids: tuple[UUID, ...], project: str) -> None:
    """Deliver each NOTIFICATION again that failed, or may not have arrived."""

    async def retried(app: Opened) -> NotificationRetry:
        project_id = await project_id_of(app.conn, project)
        return await notifications.retry(app.conn, project_id, row_ids, by=operator())

    found = execute(retried)
    print_message(found, f"{found.notifications} of {len(row_ids)} are delivered again")
