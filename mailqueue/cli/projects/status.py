"""`mailqueue project suspend|activate|remove|stats|usage`: status and statistics."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict

import click

from mailqueue.cli.projects.settings import print_project
from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_result, print_rows
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.confirmation import asks_first
from mailqueue.cli.support.output import Column, examples, facts, table
from mailqueue.contract.projects import BoundUsage
from mailqueue.db.fetch import Conn
from mailqueue.projects import manage as projects_manage
from mailqueue.projects import stats as projects_stats
from mailqueue.projects.model import Project
from mailqueue.projects.stats import ProjectSummary
from mailqueue.projects.values import stats_of

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


def _do(work: Callable[[Conn], Awaitable[Project]]) -> None:
    print_project(execute(lambda app: work(app.conn)))
