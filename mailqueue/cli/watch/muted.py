"""`mailqueue watch muted`: senders that an inbox user is not notified of."""

from uuid import UUID

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_facts, print_rows
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import Column, examples
from mailqueue.cli.support.shared_options import limit_option, project_option
from mailqueue.cli.watch.options import (
    id_argument,
    of_user_option,
    pairs_of,
    user_option,
)
from mailqueue.contract.page import Page
from mailqueue.contract.watch import MutedSender
from mailqueue.projects.ids import project_id_of
from mailqueue.watch import muting

_COLUMNS = (
    Column("id", "MUTED"),
    Column("user_id", "USER"),
    Column("sender_address", "SENDER"),
    Column("created_at", "SINCE"),
)
_ID = "0197b8f0-0000-7000-8000-0000000000c7"
_USER = "0197b8f0-0000-7000-8000-0000000000c1"


@click.group(cls=CommandGroup, epilog=examples("mailqueue watch muted list"))
def muted() -> None:
    """Manage muted senders, whom an inbox user is not notified of."""


@muted.command(epilog=examples(f"mailqueue watch muted add shop@example.com --user {_USER}"))
@click.argument("sender_address", metavar="ADDRESS")
@of_user_option
@project_option
@json_option
def add(*, sender_address: str, user_id: UUID, project: str) -> None:
    """Notify an inbox user of nothing more from ADDRESS."""

    async def added(app: Opened) -> MutedSender:
        project_id = await project_id_of(app.conn, project)
        return await muting.mute(app.conn, project_id, user_id, sender_address, by=operator())

    found = execute(added)
    print_facts(found, pairs_of(found))


@muted.command("list", epilog=examples("mailqueue watch muted list --json"))
@user_option
@limit_option()
@project_option
@json_option
def list_(*, user_id: UUID | None, limit: int, project: str) -> None:
    """List muted senders in the order they were muted."""

    async def listed(app: Opened) -> list[MutedSender]:
        project_id = await project_id_of(app.conn, project)
        return await muting.list_page(app.conn, project_id, user_id=user_id, limit=limit)

    found = execute(listed)
    print_rows(found, _COLUMNS, document=Page(found, None))


@muted.command(epilog=examples(f"mailqueue watch muted remove {_ID}"))
@id_argument("MUTED")
@project_option
def remove(*, row_id: UUID, project: str) -> None:
    """Remove MUTED: mail of this sender that arrives from now on is reported."""

    async def removed(app: Opened) -> None:
        await muting.unmute(app.conn, await project_id_of(app.conn, project), row_id, by=operator())

    execute(removed)
    click.echo(f"muted sender {row_id} is removed")
