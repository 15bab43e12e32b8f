"""`mailqueue project add|list|show|set`: the projects, and what holds for all their mail."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, TypeVar

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.app import opened, run
from mailqueue.cli.support.output import Column, emit, examples, facts, json_option, table
from mailqueue.core.errors import InvalidField
from mailqueue.tenants.model import Project
from mailqueue.tenants.projects import manage as projects_manage

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
"""What takes a setting back."""

# Option, the setting, what stands for its value, and what it does.
_TEXTS = (
    ("--called", "display_name", "TEXT", "What people call it.  [default: its name]"),
    ("--description", "description", "TEXT", "What it is for."),
    ("--from", "from_email", "ADDRESS", "From of mail that names none."),
    ("--from-name", "from_name", "TEXT", "The name beside it."),
    ("--reply-to", "reply_to", "ADDRESS", "Where answers go if the mail does not say."),
    ("--bounce-address", "bounce_address", "ADDRESS", "Where bounces go.  [default: From]"),
    ("--bounce-domain", "bounce_domain", "DOMAIN", "Its mail comes here: sign return paths."),
    ("--postal-address", "postal_address", "TEXT", "For the footer of marketing mail."),
    ("--tracking-domain", "tracking_domain", "DOMAIN", "Links in its mail begin with it."),
    ("--brand-color", "brand_color", "#RRGGBB", "Colour of the pages for people."),
    ("--time-zone", "time_zone", "ZONE", "Where its day begins, as Europe/Berlin.  [default: UTC]"),
    ("--delivery", "delivery", "resend|hold", "When the fate of a mail is unknown."),
)
_NUMBERS = (
    ("--daily-limit", "daily_limit", "Recipients a day.  [default: no limit]"),
    ("--rate", "rate_per_second", "Recipients a second.  [default: no limit]"),
    ("--burst", "burst", "How far the rate may be ahead of itself.  [default: 200]"),
    ("--requests", "requests_per_second", "Requests a second, all keys.  [default: each its own]"),
    ("--weight", "weight", "Turns beside other projects.  [default: 100]"),
    ("--soft-bounces", "soft_bounce_limit", "So many suppress an address; 0: never.  [default: 5]"),
    ("--soft-bounce-days", "soft_bounce_days", "Days they are counted for.  [default: 30]"),
    ("--attachment-bytes", "attachment_bytes", "What all files of a mail may have."),
)
_LISTS = (
    ("--allow-from", "allowed_from", "PATTERN", "An address, domain or *.domain mail may be from."),
    ("--attachment-type", "attachment_types", "TYPE", "A content type files may have."),
)
_FLAGS = (
    ("--track-opens", "track_opens", "Tell when mail is opened, where it does not say otherwise."),
    (
        "--resend-elsewhere",
        "resend_elsewhere",
        "Send mail of unknown fate again by another account too.",
    ),
    ("--track-clicks", "track_clicks", "Count links followed, where mail does not say otherwise."),
)
_ARE_FLAGS = frozenset(name for _, name, _ in _FLAGS)
_ARE_NUMBERS = frozenset(name for _, name, _ in _NUMBERS)


def settings_options(command: Command) -> Command:
    """Add an option for each setting of a project, handed over under the setting's name."""
    for option, name, value, told in reversed(_LISTS):
        told = f"{told} May be repeated."
        command = click.option(option, name, multiple=True, metavar=value, help=told)(command)
    for option, name, told in reversed(_FLAGS):
        on_off = click.Choice(["on", "off"])
        command = click.option(option, name, type=on_off, help=told)(command)
    for option, name, told in reversed(_NUMBERS):
        command = click.option(option, name, metavar="N", help=told)(command)
    for option, name, value, told in reversed(_TEXTS):
        command = click.option(option, name, metavar=value, help=told)(command)
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
def add(*, name: str, as_json: bool, **given: str | tuple[str, ...] | None) -> None:
    """Make a project."""
    settings = _changes(given)

    async def added() -> Project:
        async with opened() as app, app.conn.transaction():
            return await projects_manage.add(app.conn, name, settings=settings, by=operator())

    print_project(run(added()), as_json=as_json)


@click.command(
    name="list",
    epilog=examples("mailqueue project list", "mailqueue project list shop --status suspended"),
)
@click.argument("text", required=False)
@click.option("--status", type=click.Choice(projects_manage.STATUSES), help="Only these.")
@json_option
def list_(*, text: str | None, status: str | None, as_json: bool) -> None:
    """List the projects, all or those with TEXT in name or description."""

    async def listed() -> list[Project]:
        async with opened() as app:
            return await projects_manage.list_page(
                app.conn, text=text, status=status, most=projects_manage.MOST_LISTED
            )

    found = run(listed())
    if as_json:
        emit([asdict(each) for each in found])
    else:
        table(found, _COLUMNS)


@click.command(epilog=examples("mailqueue project show shop"))
@click.argument("name", metavar="PROJECT")
@json_option
def show(*, name: str, as_json: bool) -> None:
    """Show what holds for all mail of a project."""

    async def found() -> Project:
        async with opened() as app:
            return await projects_manage.find(app.conn, name)

    print_project(run(found()), as_json=as_json)


@click.command(
    name="set",
    epilog=examples(
        "mailqueue project set shop --from shop@example.com --from-name Shop",
        "mailqueue project set shop --bounce-address bounces@example.com",
        "mailqueue project set shop --allow-from example.com --allow-from '*.example.com'",
        "mailqueue project set shop --daily-limit 20000 --rate 50 --time-zone Europe/Berlin",
        "mailqueue project set shop --track-opens on --tracking-domain links.example.com",
        "mailqueue project set shop --reply-to none",
    ),
)
@click.argument("name", metavar="PROJECT")
@settings_options
@json_option
def set_(*, name: str, as_json: bool, **given: str | tuple[str, ...] | None) -> None:
    """Change what holds for all mail of a project; the word none takes a setting back."""
    changes = _changes(given)
    if not changes:
        raise click.UsageError("say what to change, for example --from shop@example.com")

    async def changed() -> Project:
        async with opened() as app:
            return await projects_manage.change(app.conn, name, changes=changes, by=operator())

    print_project(run(changed()), as_json=as_json)


def print_project(project: Project, *, as_json: bool) -> None:
    """Print one project."""
    if as_json:
        emit(asdict(project))
        return
    facts((name.replace("_", " "), value) for name, value in asdict(project).items())


def _changes(given: dict[str, str | tuple[str, ...] | None]) -> dict[str, object]:
    return {key: _value(key, value) for key, value in given.items() if value}


def _value(key: str, given: str | tuple[str, ...] | None) -> object:
    if given in (NONE, (NONE,)):
        return None
    if key in _ARE_NUMBERS and isinstance(given, str):
        return _number(key, given)
    if key in _ARE_FLAGS:
        return given == "on"
    return list(given) if isinstance(given, tuple) else given


def _number(key: str, given: str) -> float | int:
    try:
        return int(given) if given.isdigit() else float(given)
    except ValueError:
        raise InvalidField(key, f"must be a number, got {given!r}") from None
