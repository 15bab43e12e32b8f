"""`mailqueue user add|link|list|change|remove`: people who log in to the console."""

import click

from mailqueue.admin.users import manage
from mailqueue.admin.users.model import PasswordLink, Role
from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import (
    execute,
    json_option,
    print_message,
    print_result,
    print_rows,
)
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.confirmation import asks_first
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import Column, examples
from mailqueue.contract.admin import ConsoleLink, ConsoleUser, RemovedConsoleUser
from mailqueue.settings.environment import Settings

_COLUMNS = (
    Column("name", "USER"),
    Column("role", "ROLE"),
    Column("projects", "PROJECTS"),
    Column("password", "PASSWORD OR ISSUER"),
    Column("second_factor", "SECOND FACTOR"),
    Column("passkeys", "PASSKEYS", numeric=True),
    Column("last_login_at", "LAST LOGIN"),
    Column("sessions", "SESSIONS", numeric=True),
    Column("removed_at", "REMOVED"),
)


@click.group(
    cls=CommandGroup,
    epilog=examples(
        "mailqueue user add ann",
        "mailqueue user add ben --role support --project shop",
        "mailqueue user link ben",
        "mailqueue user list",
        "mailqueue user change ben --role viewer",
        "mailqueue user remove ben",
    ),
)
def user() -> None:
    """Manage who logs in to the console, and what each user sees and may do."""


@user.command(
    epilog=examples(
        "mailqueue user add ann --role superadmin",
        "mailqueue user add ben --role support --project shop --project blog",
        "mailqueue user add eve --role viewer --all-projects",
    )
)
@click.argument("name")
@click.option(
    "--role",
    type=click.Choice([str(each) for each in Role]),
    default=str(Role.SUPERADMIN),
    show_default=True,
    help="What the user may do.",
)
@click.option("--project", "projects", multiple=True, help="A project that the user sees.")
@click.option("--all-projects", is_flag=True, help="The user sees every project, new ones too.")
@json_option
def add(*, name: str, role: str, projects: tuple[str, ...], all_projects: bool) -> None:
    """Add a person who logs in to the console. Prints a link by which the password is set."""

    async def added(app: Opened) -> ConsoleLink:
        made = await manage.add(
            app.conn, name, role=role, projects=projects, sees_all=all_projects, by=operator()
        )
        return shown_link(made, app.settings)

    print_link(execute(added))


@user.command(epilog=examples("mailqueue user link ann"))
@click.argument("name")
@json_option
def link(*, name: str) -> None:
    """Print a new link by which a user of the console sets a password.

    An earlier link is void. The password stays valid until the link is used.
    """

    async def linked(app: Opened) -> ConsoleLink:
        made = await manage.renew_link(app.conn, name, by=operator())
        return shown_link(made, app.settings)

    print_link(execute(linked))


@user.command(name="list", epilog=examples("mailqueue user list"))
@json_option
def list_() -> None:
    """List the users of the console by name, removed ones last."""
    found = execute(lambda app: manage.list_all(app.conn))
    print_rows(found, _COLUMNS, row=_row)


@user.command(
    epilog=examples(
        "mailqueue user change ben --role project_admin",
        "mailqueue user change ben --project shop --project blog",
        "mailqueue user change eve --role viewer --all-projects",
        "mailqueue user change ben --reset-second-factor",
    )
)
@click.argument("name")
@click.option(
    "--role", type=click.Choice([str(each) for each in Role]), help="What the user may do."
)
@click.option(
    "--project",
    "projects",
    multiple=True,
    help="A project that the user sees, in place of those before.",
)
@click.option("--all-projects", is_flag=True, help="The user sees every project, new ones too.")
@click.option(
    "--reset-second-factor",
    is_flag=True,
    help="The next login needs no code; open sessions end.",
)
@json_option
def change(
    *,
    name: str,
    role: str | None,
    projects: tuple[str, ...],
    all_projects: bool,
    reset_second_factor: bool,
) -> None:
    """Change what a user of the console may do, and sees. Open sessions follow at once.

    A second factor is reset for people who have lost their device and their recovery codes.
    """
    if role is None and not projects and not all_projects and not reset_second_factor:
        raise click.UsageError(
            "give a new --role, --project or --all-projects, or --reset-second-factor"
        )
    changed = execute(
        lambda app: manage.change(
            app.conn,
            name,
            role=role,
            projects=projects or None,
            sees_all=True if all_projects else None,
            reset_second_factor=reset_second_factor,
            by=operator(),
        )
    )
    seen = "every project" if changed.sees_all else ", ".join(changed.projects)
    reset = "; the second factor was reset" if reset_second_factor else ""
    print_message(changed, f"{changed.name} is {changed.role} of {seen}{reset}")


@user.command(epilog=examples("mailqueue user remove ben"))
@click.argument("name")
@asks_first("Remove user {name} of the console?")
@json_option
def remove(*, name: str) -> None:
    """Remove a user of the console. The user is logged out everywhere, at once."""
    execute(lambda app: manage.remove(app.conn, name, by=operator()))
    gone = RemovedConsoleUser(name, is_removed=True)
    print_message(gone, f"{name} can no longer log in to the console")


def shown_link(made: PasswordLink, settings: Settings) -> ConsoleLink:
    """Return a link at the URL of the console, else where `mailqueue up` serves it."""
    base = settings.console.url or f"http://127.0.0.1:{settings.api.port}"
    return ConsoleLink(made.name, manage.link_url(base, made), made.until)


def print_link(made: ConsoleLink) -> None:
    """Print a link that sets a password."""

    def as_text() -> None:
        click.echo(f"{made.name} sets a password here, once, within 24 hours:\n\n  {made.link}\n")

    print_result(made, as_text)


def _row(each: ConsoleUser) -> dict[str, object]:
    return {
        "name": each.name,
        "role": each.role,
        "projects": "all" if each.sees_all else ", ".join(each.projects),
        "password": each.issuer or ("yes" if each.has_password else "not set"),
        "second_factor": "yes" if each.has_second_factor else "",
        "passkeys": each.passkeys or None,
        "last_login_at": each.last_login_at,
        "sessions": each.sessions,
        "removed_at": each.removed_at,
    }
