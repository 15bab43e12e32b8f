"""`mailqueue project audit` and `mailqueue platform audit`: the audit log."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID

import click

from mailqueue.audit import search as audit_search
from mailqueue.audit.model import AuditSearch
from mailqueue.cli.support.answer import execute, json_option, print_rows
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.output import Column, examples
from mailqueue.cli.support.shared_options import limit_option
from mailqueue.contract.page import Page
from mailqueue.contract.projects import AuditEvent
from mailqueue.core.errors import InvalidField
from mailqueue.core.paging import cursor_of
from mailqueue.core.units import parse_duration
from mailqueue.projects import manage as projects_manage

Command = TypeVar("Command", bound=Callable[..., Any])
_COLUMNS = (
    Column("id", "ID", numeric=True),
    Column("occurred_at", "WHEN"),
    Column("actor", "WHO"),
    Column("action", "DID"),
    Column("subject", "TO"),
)
_WITH_PROJECT = (*_COLUMNS[:2], Column("project", "PROJECT"), *_COLUMNS[2:])


def search_options(command: Command) -> Command:
    """Add the options of a search of the audit log."""
    for option in reversed(
        (
            click.option(
                "--action",
                help="Filter by action, such as api_key.revoked, or by a word of it: revoked.",
            ),
            click.option("--actor", metavar="TEXT", help="Filter by a part of who did it."),
            click.option(
                "--subject", metavar="TEXT", help="Filter by a part of what it was done to."
            ),
            click.option(
                "--within",
                metavar="TIME",
                help="Period to search, counted back from now, such as 30d.",
            ),
            limit_option(1000),
            click.option(
                "--before", type=int, help="Show entries older than the entry with this id."
            ),
        )
    ):
        command = option(command)
    return command


@click.command(
    name="audit",
    epilog=examples(
        "mailqueue project audit shop --limit 20",
        "mailqueue project audit shop --action revoked --subject 'api key web'",
    ),
)
@click.argument("name", metavar="PROJECT", default="default")
@search_options
@json_option
def project_audit(*, name: str, **options: Any) -> None:
    """List the audit log of a project, newest first."""

    async def found(app: Opened) -> Page[AuditEvent]:
        project = await projects_manage.find(app.conn, name)
        return await _page(app, project.id, **options)

    listed = execute(found)
    print_rows(listed.data, _COLUMNS, document=listed)


@click.command(
    name="audit",
    epilog=examples(
        "mailqueue platform audit --action project.suspended",
        "mailqueue platform audit --actor ann --within 30d",
    ),
)
@search_options
@json_option
def platform_audit(**options: Any) -> None:
    """List the audit log of all projects, newest first."""
    listed = execute(lambda app: _page(app, None, **options))
    print_rows(listed.data, _WITH_PROJECT, document=listed)


async def _page(
    app: Opened,
    project_id: UUID | None,
    *,
    action: str | None,
    actor: str | None,
    subject: str | None,
    within: str | None,
    limit: int,
    before: int | None,
) -> Page[AuditEvent]:
    """Return a page of the audit log, which goes on where a search looked at enough rows."""
    filters = AuditSearch(project_id, action, actor, subject, since=_since(within))
    events: list[AuditEvent] = []
    while True:
        found = await audit_search.search(
            app.conn, filters, before=before, limit=limit - len(events)
        )
        events += found.events
        before = found.next
        if before is None and not events and action is not None:
            await audit_search.check_action(app.conn, project_id, action)
        if before is None or len(events) == limit:
            return Page(events, None if before is None else cursor_of(before))


def _since(within: str | None) -> datetime | None:
    if within is None:
        return None
    try:
        return datetime.now(UTC) - parse_duration(within)
    except (ValueError, OverflowError) as exc:
        raise InvalidField("within", str(exc)) from None
