"""`mailqueue watch user`: persons whose inboxes are watched."""

from uuid import UUID

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_facts, print_rows
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.confirmation import asks_first
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import Column, examples
from mailqueue.cli.support.shared_options import limit_option, project_option
from mailqueue.cli.watch.options import (
    id_argument,
    pairs_of,
    remove_with_consents,
)
from mailqueue.contract.page import Page
from mailqueue.contract.watch import InboxInvitation, InboxUser
from mailqueue.projects.ids import project_id_of
from mailqueue.watch import users
from mailqueue.watch.logins import links

_COLUMNS = (
    Column("id", "USER"),
    Column("email", "ADDRESS"),
    Column("notifications_paused", "PAUSED"),
    Column("paused_until", "UNTIL"),
    Column("created_at", "ADDED"),
)
_ID = "0197b8f0-0000-7000-8000-0000000000c1"


@click.group(cls=CommandGroup, epilog=examples("mailqueue watch user add ann@example.com"))
def user() -> None:
    """Manage inbox users, the persons whose inboxes are watched."""


@user.command(epilog=examples("mailqueue watch user add ann@example.com"))
@click.argument("email", metavar="ADDRESS")
@project_option
@json_option
def add(*, email: str, project: str) -> None:
    """Add the person with ADDRESS."""

    async def added(app: Opened) -> InboxUser:
        return await users.add(
            app.conn, await project_id_of(app.conn, project), email, by=operator()
        )

    found = execute(added)
    print_facts(found, pairs_of(found))


@user.command("list", epilog=examples("mailqueue watch user list --json"))
@limit_option()
@project_option
@json_option
def list_(*, limit: int, project: str) -> None:
    """List inbox users in the order they were added."""

    async def listed(app: Opened) -> list[InboxUser]:
        return await users.list_page(app.conn, await project_id_of(app.conn, project), limit=limit)

    found = execute(listed)
    print_rows(found, _COLUMNS, document=Page(found, None))


@user.command(epilog=examples(f"mailqueue watch user pause {_ID}"))
@id_argument("USER")
@project_option
@json_option
def pause(*, row_id: UUID, project: str) -> None:
    """Pause all notifications of USER."""
    _switch(row_id, project, is_paused=True)


@user.command(epilog=examples(f"mailqueue watch user resume {_ID}"))
@id_argument("USER")
@project_option
@json_option
def resume(*, row_id: UUID, project: str) -> None:
    """Resume the notifications of USER."""
    _switch(row_id, project, is_paused=False)


@user.command(
    epilog=examples(
        f"mailqueue watch user invite {_ID}", f"mailqueue watch user invite {_ID} --link"
    )
)
@id_argument("USER")
@click.option("--link", "as_link", is_flag=True, help="Print the link instead of mailing it.")
@project_option
@json_option
def invite(*, row_id: UUID, as_link: bool, project: str) -> None:
    """Invite USER to set a password and log in, by mail."""

    async def invited(app: Opened) -> InboxInvitation:
        return await links.invite(
            app.conn,
            await project_id_of(app.conn, project),
            row_id,
            project=project,
            origin=app.settings.tracking.public_url,
            by_mail=not as_link,
            by=operator(),
        )

    found = execute(invited)
    print_facts(found, pairs_of(found))


@user.command(epilog=examples(f"mailqueue watch user remove {_ID} --yes"))
@id_argument("USER")
@project_option
@asks_first("Remove inbox user {row_id} with inboxes, channels, rules and notifications?")
def remove(*, row_id: UUID, project: str) -> None:
    """Remove USER with inboxes, channels, rules and notifications."""

    async def removed(app: Opened) -> None:
        project_id = await project_id_of(app.conn, project)

        async def remove_user() -> None:
            await users.remove(app.conn, project_id, row_id, by=operator())

        await remove_with_consents(app, project_id, remove_user, user_id=row_id)

    execute(removed)
    click.echo(f"inbox user {row_id} is removed")


def _switch(user_id: UUID, project: str, *, is_paused: bool) -> None:
    async def switched(app: Opened) -> InboxUser:
        project_id = await project_id_of(app.conn, project)
        return await users.pause(app.conn, project_id, user_id, is_paused=is_paused, by=operator())

    found = execute(switched)
    print_facts(found, pairs_of(found))
