"""`mailqueue project add|list|show|set`: projects and their settings."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any, TypeVar

import click

from mailqueue.administration import settings
from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_facts, print_rows
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.output import Column, examples
from mailqueue.cli.support.paging import read_page
from mailqueue.contract.page import Page
from mailqueue.contract.projects import ProjectRetention
from mailqueue.core.errors import InvalidField
from mailqueue.tenants.model import Project
from mailqueue.tenants.projects import manage as projects_manage
from mailqueue.tenants.projects.values import details_of

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

# Option, the setting, what stands for its value, and what it does.
_TEXTS = (
    ("--called", "display_name", "TEXT", "Display name.  [default: its name]"),
    ("--description", "description", "TEXT", "Description."),
    ("--from", "from_email", "ADDRESS", "Default From address."),
    ("--from-name", "from_name", "TEXT", "Display name of the default From address."),
    ("--reply-to", "reply_to", "ADDRESS", "Default Reply-To address."),
    (
        "--bounce-address",
        "bounce_address",
        "ADDRESS",
        "Envelope sender, to which bounces are sent.  [default: From]",
    ),
    (
        "--bounce-domain",
        "bounce_domain",
        "DOMAIN",
        "Domain of signed return paths, whose mail `mailqueue worker bounces` receives.",
    ),
    (
        "--postal-address",
        "postal_address",
        "TEXT",
        "Postal address for the footer of marketing emails.",
    ),
    ("--tracking-domain", "tracking_domain", "DOMAIN", "Domain of tracking links."),
    ("--brand-color", "brand_color", "#RRGGBB", "Colour of the unsubscribe and preference pages."),
    (
        "--time-zone",
        "time_zone",
        "ZONE",
        "Time zone of daily limits, such as Europe/Berlin.  [default: UTC]",
    ),
    ("--delivery", "delivery", "resend|hold", "Action when the outcome of an email is unknown."),
)
_NUMBERS = (
    ("--daily-limit", "daily_limit", "Recipients per day.  [default: no limit]"),
    ("--rate", "rate_per_second", "Recipients per second.  [default: no limit]"),
    (
        "--burst",
        "burst",
        "Recipients in one second beyond the rate.  [default: as many as the rate]",
    ),
    (
        "--requests",
        "requests_per_second",
        "API requests per second of all keys together.  [default: no common limit]",
    ),
    (
        "--weight",
        "weight",
        "Weight relative to other projects when workers claim emails.  [default: 100]",
    ),
    (
        "--soft-bounces",
        "soft_bounce_limit",
        "Soft bounces after which an address is suppressed; 0: never.  [default: 5]",
    ),
    (
        "--soft-bounce-days",
        "soft_bounce_days",
        "Days for which soft bounces are counted.  [default: 30]",
    ),
    ("--attachment-bytes", "attachment_bytes", "Maximum size of all attachments of an email."),
    (
        "--max-queued-emails",
        "max_queued_emails",
        "Maximum number of emails in the queue.  [default: no bound]",
    ),
    (
        "--max-stored-bytes",
        "max_stored_bytes",
        "Maximum bytes of stored subjects, bodies and files.  [default: no bound]",
    ),
    ("--max-uploads", "max_uploads", "Maximum number of stored files.  [default: no bound]"),
    ("--max-templates", "max_templates", "Maximum number of templates.  [default: no bound]"),
    (
        "--max-events",
        "max_events",
        "Stored events above which opens and clicks are not stored.  [default: no bound]",
    ),
    (
        "--max-age-critical",
        "max_age_hours_critical",
        "Hours after which critical emails without an expiry time expire.  [default: 1]",
    ),
    (
        "--max-age-high",
        "max_age_hours_high",
        "Hours after which emails of high priority without an expiry time expire.  [default: 4]",
    ),
    (
        "--max-age-normal",
        "max_age_hours_normal",
        "Hours after which emails of normal priority without an expiry time expire.  [default: 24]",
    ),
    (
        "--max-age-low",
        "max_age_hours_low",
        "Hours after which emails of low priority without an expiry time expire.  [default: 72]",
    ),
)
_LISTS = (
    ("--allow-from", "allowed_from", "PATTERN", "Allowed From address, domain or *.domain."),
    ("--attachment-type", "attachment_types", "TYPE", "Allowed content type of attachments."),
)
_FLAGS = (
    ("--track-opens", "track_opens", "Track opens, unless an email sets it."),
    (
        "--resend-elsewhere",
        "resend_elsewhere",
        "Allow resending an email of unknown outcome by another account.",
    ),
    (
        "--require-postal-address",
        "require_postal_address",
        "Reject marketing while the project has no postal address.  [default: on]",
    ),
    (
        "--unsubscribe-on-all",
        "unsubscribe_on_all",
        "Add unsubscribe headers to emails of every category.  [default: marketing only]",
    ),
    ("--track-clicks", "track_clicks", "Track clicks, unless an email sets it."),
)
_ARE_FLAGS = frozenset(name for _, name, _ in _FLAGS)
_ARE_NUMBERS = frozenset(name for _, name, _ in _NUMBERS)


def settings_options(command: Command) -> Command:
    """Add an option for each project setting, passed under the setting's name."""
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
def add(*, name: str, **options: str | tuple[str, ...] | None) -> None:
    """Add a project."""
    given_settings = _changes(options)

    async def added(app: Opened) -> Project:
        async with app.conn.transaction():
            return await projects_manage.add(app.conn, name, settings=given_settings, by=operator())

    _print_details(added)


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
        ((name.replace("_", " "), value) for name, value in asdict(project).items()),
    )


def _print_details(verb: Callable[[Opened], Awaitable[Project]]) -> None:
    async def found(app: Opened) -> tuple[Project, list[ProjectRetention]]:
        project = await verb(app)
        return project, await settings.retention_of(app.conn, project.id)

    print_project(*execute(found))


def _changes(values: dict[str, str | tuple[str, ...] | None]) -> dict[str, object]:
    return {key: _value(key, value) for key, value in values.items() if value}


def _value(key: str, value: str | tuple[str, ...] | None) -> object:
    if value in (NONE, (NONE,)):
        return None
    if key in _ARE_NUMBERS and isinstance(value, str):
        return _number(key, value)
    if key in _ARE_FLAGS:
        return value == "on"
    return list(value) if isinstance(value, tuple) else value


def _number(key: str, text: str) -> float | int:
    try:
        return int(text) if text.isdigit() else float(text)
    except ValueError:
        raise InvalidField(key, f"must be a number, got {text!r}") from None
