"""`mailqueue member`: who sees a project in the console."""

import click

from mailqueue.admin.users import members
from mailqueue.admin.users.model import Role
from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_message, print_rows
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.confirmation import asks_first
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import Column, examples
from mailqueue.cli.support.paging import read_page
from mailqueue.cli.users.commands import print_link, shown_link
from mailqueue.contract.admin import ConsoleLink, ProjectMember, RemovedMember
from mailqueue.contract.page import Page
from mailqueue.projects import manage as projects_manage

_COLUMNS = (
    Column("name", "MEMBER"),
    Column("role", "ROLE"),
    Column("password", "PASSWORD OR ISSUER"),
    Column("added_at", "SINCE"),
    Column("last_login_at", "LAST LOGIN"),
)
_ROLES = [str(each) for each in members.roles_within(Role.SUPERADMIN)]
project_option = click.option(
    "--project", default="default", show_default=True, help="Project of the members."
)


@click.group(
    cls=CommandGroup,
    old_names={"invite": "add"},
    epilog=examples(
        "mailqueue member add ben --role support --project shop",
        "mailqueue member list --project shop",
        "mailqueue member remove ben --project shop",
    ),
)
def member() -> None:
    """Manage who sees a project in the console, besides users who see every project."""


@member.command(
    epilog=examples(
        "mailqueue member add ben --project shop",
        "mailqueue member add ann --role project_admin --project shop",
    )
)
@click.argument("name")
@project_option
@click.option(
    "--role",
    type=click.Choice(_ROLES),
    default=str(Role.VIEWER),
    show_default=True,
    help="What the member may do in the project.",
)
@json_option
def add(*, name: str, project: str, role: str) -> None:
    """Add a person who sees one project. Prints a link by which the password is set.

    `mailqueue user change` changes which projects a user sees who exists already.
    """

    async def added(app: Opened) -> ConsoleLink:
        found = await projects_manage.find(app.conn, project)
        made = await members.invite(
            app.conn,
            name,
            role=role,
            project=found.name,
            within=Role.SUPERADMIN,
            by=operator(),
        )
        return shown_link(made, app.settings)

    print_link(execute(added))


@member.command(name="list", epilog=examples("mailqueue member list --project shop"))
@project_option
@json_option
def list_(*, project: str) -> None:
    """List the members of a project by name."""

    async def listed(app: Opened) -> Page[ProjectMember]:
        found = await projects_manage.find(app.conn, project)

        async def read(after: str | None, rows: int) -> list[ProjectMember]:
            return await members.list_of(app.conn, found.id, after=after, limit=rows)

        return await read_page(read, members.MAX_LISTED, key=lambda one: one.name)

    found = execute(listed)
    print_rows(found.data, _COLUMNS, document=found, row=_row)


@member.command(epilog=examples("mailqueue member remove ben --project shop"))
@click.argument("name")
@project_option
@asks_first("Take project {project} from member {name}?")
@json_option
def remove(*, name: str, project: str) -> None:
    """Take a project from a member, at once for open sessions. The user stays."""

    async def removed(app: Opened) -> None:
        found = await projects_manage.find(app.conn, project)
        who = await members.find_by_name(app.conn, found.id, name)
        await members.remove(app.conn, found.id, who.user_id, within=Role.SUPERADMIN, by=operator())

    execute(removed)
    gone = RemovedMember(name, project, is_removed=True)
    print_message(gone, f"{name} no longer sees project {project}")


def _row(each: ProjectMember) -> dict[str, object]:
    return {
        "name": each.name,
        "role": each.role,
        "password": each.issuer or ("yes" if each.has_password else "not set"),
        "added_at": each.added_at,
        "last_login_at": each.last_login_at,
    }
