"""`mailqueue project suspend|activate|remove|stats|usage|audit`: status and history."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from uuid import UUID

import click

from mailqueue.cli.projects.settings import print_project
from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_result, print_rows
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.confirmation import asks_first
from mailqueue.cli.support.output import Column, examples, facts, table
from mailqueue.cli.support.paging import read_page
from mailqueue.contract.page import Page
from mailqueue.contract.projects import AuditEvent, BoundUsage
from mailqueue.db.fetch import Conn
from mailqueue.tenants.model import Project
from mailqueue.tenants.projects import manage as projects_manage
from mailqueue.tenants.projects import stats as projects_stats
from mailqueue.tenants.projects.stats import ProjectSummary
from mailqueue.tenants.projects.values import stats_of

_DAYS = (
    Column("day", "DAY (UTC)"),
    Column("accepted", "ACCEPTED", numeric=True),
    Column("sent", "SENT", numeric=True),
    Column("failed", "FAILED", numeric=True),
    Column("suppressed", "SUPPRESSED", numeric=True),
    Column("hard_bounces", "HARD BOUNCES", numeric=True),
    Column("complaints", "COMPLAINTS", numeric=True),
)
_BOUNDS = (
    Column("project", "PROJECT"),
    Column("bound", "BOUND"),
    Column("used", "USED", numeric=True),
    Column("max", "MAX", numeric=True),
)
_AUDIT = (
    Column("id", "ID", numeric=True),
    Column("occurred_at", "WHEN"),
    Column("actor", "WHO"),
    Column("action", "DID"),
    Column("subject", "TO"),
)


@click.command(epilog=examples("mailqueue project suspend shop --reason 'unpaid since May'"))
@click.argument("name", metavar="PROJECT")
@click.option("--reason", required=True, help="Reason, shown by `mailqueue why` for its emails.")
@json_option
def suspend(*, name: str, reason: str) -> None:
    """Suspend a project: its emails are accepted and wait."""
    _do(
        lambda conn: projects_manage.suspend(conn, name, reason=reason, by=operator()),
    )


@click.command(epilog=examples("mailqueue project activate shop"))
@click.argument("name", metavar="PROJECT")
@json_option
def activate(*, name: str) -> None:
    """Activate a suspended, paused or removed project, so that it sends again."""
    _do(lambda conn: projects_manage.activate(conn, name, by=operator()))


@click.command(
    epilog=examples("mailqueue project remove shop", "mailqueue project remove shop --yes --json")
)
@click.argument("name", metavar="PROJECT")
@asks_first("Project {name} stops sending, and its keys are revoked. Remove it?")
@json_option
def remove(*, name: str) -> None:
    """Remove a project: it accepts and sends nothing, and its keys are revoked.

    Its emails wait, its records are kept as long as those of other projects, and its name stays
    taken. `mailqueue project activate` restores it, without its keys.
    """
    _do(lambda conn: projects_manage.delete(conn, name, by=operator()))


@click.command(epilog=examples("mailqueue project stats shop", "mailqueue project stats --days 30"))
@click.argument("name", metavar="PROJECT", default="default")
@click.option(
    "--days", type=int, default=7, show_default=True, help="Number of days, today included."
)
@json_option
def stats(*, name: str, days: int) -> None:
    """Show what a project sent today and on recent days, and its remaining daily limit."""

    async def found(app: Opened) -> ProjectSummary:
        project = await projects_manage.find(app.conn, name)
        return await projects_stats.look(app.conn, project.id, days=days)

    stood = execute(found)

    def as_text() -> None:
        facts((key.replace("_", " "), value) for key, value in asdict(stood.today).items())
        facts((f"{key} rate".replace("_", " "), rate) for key, rate in asdict(stood.rates).items())
        click.echo()
        table(stood.days, _DAYS)
        click.echo()
        table(stood.bounds, _BOUNDS)

    print_result(stats_of(stood), as_text)


@click.command(epilog=examples("mailqueue project usage", "mailqueue project usage shop --json"))
@click.argument("name", metavar="PROJECT", required=False)
@json_option
def usage(*, name: str | None) -> None:
    """Show what a project, or each, uses of its bounds."""

    async def found(app: Opened) -> list[BoundUsage]:
        project = None if name is None else await projects_manage.find(app.conn, name)
        return await projects_stats.bounds(app.conn, None if project is None else project.id)

    print_rows(execute(found), _BOUNDS)


@click.command(epilog=examples("mailqueue project audit shop --limit 20"))
@click.argument("name", metavar="PROJECT", default="default")
@click.option(
    "--limit",
    type=click.IntRange(1, 1000),
    default=50,
    show_default=True,
    help="Maximum number of rows.",
)
@click.option("--before", type=int, help="Show entries older than the entry with this id.")
@json_option
def audit(*, name: str, limit: int, before: int | None) -> None:
    """List the audit log of a project, newest first."""

    async def found(app: Opened) -> Page[AuditEvent]:
        project = await projects_manage.find(app.conn, name)
        return await audit_page(app, project.id, before=before, limit=limit)

    events = execute(found)
    print_rows(events.data, _AUDIT, document=events)


async def audit_page(
    app: Opened,
    project_id: UUID | None,
    *,
    action: str | None = None,
    before: int | None,
    limit: int,
) -> Page[AuditEvent]:
    """Return a page of the audit log of a project, or (None) of all, newest first."""

    async def read(behind: int | None, rows: int) -> list[AuditEvent]:
        return await projects_manage.audit(
            app.conn, project_id, action=action, before=behind, limit=rows
        )

    return await read_page(read, limit, key=lambda event: event.id, behind=before)


def _do(work: Callable[[Conn], Awaitable[Project]]) -> None:
    print_project(execute(lambda app: work(app.conn)))
