"""`mailqueue project add|list|show|set`: projects and their settings."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any, TypeVar

import click

from mailqueue.admin import settings
from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import (
    execute,
    json_option,
    print_facts,
    print_message,
    print_rows,
)
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.output import Column, examples
from mailqueue.cli.support.paging import read_page
from mailqueue.contract.page import Page
from mailqueue.contract.projects import ProjectRetention
from mailqueue.projects import manage as projects_manage
from mailqueue.projects.model import Project
from mailqueue.projects.settings.model import ProjectSettingKind
from mailqueue.projects.settings.registry import PROJECT_SETTING_BY_NAME, PROJECT_SETTINGS
from mailqueue.projects.values import details_of

Command = TypeVar("Command", bound=Callable[..., Any])
_COLUMNS = (
    Column("name", "PROJECT"),
    Column("display_name", "CALLED"),
    Column("status", "STATUS"),
    Column("from_email", "FROM"),
    Column("daily_limit", "A DAY", numeric=True),
    Column("rate_per_second", "A SECOND", numeric=True),
)
NONE = "none"
"""Value that resets a setting."""
MAX_DOCUMENT = 1_000_000
"""Characters of a file that are read."""


class _FileText(click.ParamType[str]):
    """The text of a file; the word that resets a setting stays itself."""

    name = "file"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text of the file that was named."""
        if value == NONE:
            return NONE
        try:
            with click.open_file(value, encoding="utf-8") as file:
                text: str = file.read(MAX_DOCUMENT)
                return text
        except OSError as exc:
            self.fail(f"{value}: {exc.strerror}", param, ctx)
        except UnicodeDecodeError:
            self.fail(f"{value}: it is not encoded in UTF-8", param, ctx)


def settings_options(command: Command) -> Command:
    """Add an option for each project setting, passed under the setting's name."""
    for each in reversed(PROJECT_SETTINGS):
        told = each.meaning
        if each.shown_default is not None:
            told += f"  [default: {each.shown_default}]"
        is_number = each.kind is ProjectSettingKind.NUMBER
        options: dict[str, Any] = {"metavar": "N" if is_number else each.metavar}
        if each.kind is ProjectSettingKind.FLAG:
            options = {"type": click.Choice(["on", "off"])}
        elif each.kind is ProjectSettingKind.DOCUMENT:
            told += " A JSON file."
            options["type"] = _FileText()
        elif each.kind is ProjectSettingKind.LIST:
            told += " May be repeated."
            options["multiple"] = True
        command = click.option(each.command_option, each.name, help=told, **options)(command)
    return command


@click.command(
    epilog=examples(
        "mailqueue project add shop",
        "mailqueue project add shop --called 'The Shop' --from shop@example.com --daily-limit 5000",
    )
)
@click.argument("name", metavar="PROJECT")
@settings_options
@json_option
def add(*, name: str, **options: str | tuple[str, ...] | None) -> None:
    """Add a project."""
    given_settings = _changes(options)

    async def added(app: Opened) -> Project:
        async with app.conn.transaction():
            return await projects_manage.add(app.conn, name, settings=given_settings, by=operator())

    project, retention = execute(lambda app: _with_retention(app, added))
    print_message(
        details_of(project, retention),
        f"added project {project.name}; to make an API key:"
        f" mailqueue key add NAME --project {project.name}",
    )


@click.command(
    name="list",
    epilog=examples("mailqueue project list", "mailqueue project list shop --status suspended"),
)
@click.argument("text", required=False)
@click.option("--status", type=click.Choice(projects_manage.STATUSES), help="Filter by status.")
@json_option
def list_(*, text: str | None, status: str | None) -> None:
    """List projects: all, or those with TEXT in name or description."""

    async def listed(app: Opened) -> Page[Project]:
        async def read(after: str | None, rows: int) -> list[Project]:
            return await projects_manage.list_page(
                app.conn, after=after, text=text, status=status, limit=rows
            )

        return await read_page(read, projects_manage.MAX_LISTED, key=lambda one: one.name)

    found = execute(listed)
    print_rows(found.data, _COLUMNS, document=found.map(details_of))


@click.command(epilog=examples("mailqueue project show shop"))
@click.argument("name", metavar="PROJECT")
@json_option
def show(*, name: str) -> None:
    """Show the settings of a project."""
    _print_details(lambda app: projects_manage.find(app.conn, name))


@click.command(
    epilog=examples(
        "mailqueue project change shop --from shop@example.com --from-name Shop",
        "mailqueue project change shop --bounce-address bounces@example.com",
        "mailqueue project change shop --allow-from example.com --allow-from '*.example.com'",
        "mailqueue project change shop --daily-limit 20000 --rate 50 --time-zone Europe/Berlin",
        "mailqueue project change shop --track-opens on --tracking-domain links.example.com",
        "mailqueue project change shop --max-queued-emails 100000",
        "mailqueue project change shop --low-priority-window '22:00-06:00 Europe/Berlin'",
        "mailqueue project change shop --page-texts texts.json",
        "mailqueue project change shop --reply-to none",
    ),
)
@click.argument("name", metavar="PROJECT")
@settings_options
@json_option
def change(*, name: str, **options: str | tuple[str, ...] | None) -> None:
    """Change settings of a project; the value `none` resets a setting."""
    changes = _changes(options)
    if not changes:
        raise click.UsageError(
            "give at least one setting to change, such as --from shop@example.com"
        )

    _print_details(
        lambda app: projects_manage.change(app.conn, name, changes=changes, by=operator())
    )


def print_project(project: Project, retention: list[ProjectRetention] | None = None) -> None:
    """Print one project."""
    print_facts(
        details_of(project, retention),
        ((name.replace("_", " "), _shown(value)) for name, value in asdict(project).items()),
    )


def _shown(value: object) -> object:
    """Return the value of a setting; of a document, what it has, and how much of each."""
    if isinstance(value, dict):
        return ", ".join(f"{name} ({len(each)})" for name, each in sorted(value.items()))
    return value


def _print_details(verb: Callable[[Opened], Awaitable[Project]]) -> None:
    print_project(*execute(lambda app: _with_retention(app, verb)))


async def _with_retention(
    app: Opened, verb: Callable[[Opened], Awaitable[Project]]
) -> tuple[Project, list[ProjectRetention]]:
    project = await verb(app)
    return project, await settings.retention_of(app.conn, project.id)


def _changes(values: dict[str, str | tuple[str, ...] | None]) -> dict[str, object]:
    return {key: _value(key, value) for key, value in values.items() if value}


def _value(key: str, value: str | tuple[str, ...] | None) -> object:
    if value in (NONE, (NONE,)):
        return None
    if isinstance(value, tuple):
        return list(value)
    return PROJECT_SETTING_BY_NAME[key].value_of(value or "")
