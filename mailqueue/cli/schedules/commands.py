"""`mailqueue schedule`: mail that is made at a time, once or again and again."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any, TypeVar
from uuid import UUID

import click

from mailqueue.cli.schedules.options import (
    definition_of,
    schedule_argument,
    schedule_options,
)
from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_facts, print_rows
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.confirmation import asks_first
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import Column, examples
from mailqueue.cli.support.shared_options import project_option
from mailqueue.contract.automation.schedules import (
    NextRuns,
    Schedule,
    ScheduleEstimate,
    ScheduleRun,
    ScheduleStatus,
)
from mailqueue.contract.page import Page
from mailqueue.contract.value import Value
from mailqueue.projects.ids import project_id_of
from mailqueue.schedules import schedules
from mailqueue.schedules.planning import MAX_PREVIEW
from mailqueue.schedules.trying import try_out

T = TypeVar("T")
MAX_LISTED = 1000
"""Schedules or runs that a list shows at most."""
_COLUMNS = (
    Column("id", "ID"),
    Column("name", "NAME"),
    Column("status", "STATUS"),
    Column("schedule_type", "TYPE"),
    Column("next_run_at", "NEXT"),
    Column("last_run_at", "LAST"),
    Column("run_count", "RUNS", numeric=True),
)
_RUN_COLUMNS = (
    Column("number", "RUN", numeric=True),
    Column("scheduled_at", "SCHEDULED"),
    Column("status", "STATUS"),
    Column("queued", "QUEUED", numeric=True),
    Column("suppressed", "SUPPRESSED", numeric=True),
    Column("rejected", "REJECTED", numeric=True),
    Column("reason", "REASON"),
)
_NEXT_COLUMNS = (Column("run_at", "RUN"), Column("local_time", "LOCAL TIME"))
Verb = Callable[[Opened, UUID, UUID], Awaitable[T]]


@click.group(
    cls=CommandGroup,
    epilog=examples(
        "mailqueue schedule add digest --cron '0 9 * * mon' --template digest --to subscribers",
        "mailqueue schedule preview digest",
    ),
)
def schedule() -> None:
    """Manage schedules: emails that are made at a time, once or again and again."""


@schedule.command(
    epilog=examples(
        "mailqueue schedule add digest --cron '0 9 * * mon' --timezone Europe/Berlin"
        " --template digest --to subscribers",
        "mailqueue schedule add reminder --at 2030-05-01T09:00 --local --to ann@example.com"
        " --subject Hello --text 'See you at noon'",
        "mailqueue schedule add digest --cron '0 9 * * mon' --template digest --to subscribers"
        " --dry-run",
    )
)
@click.argument("name", metavar="NAME")
@schedule_options
@click.option(
    "--dry-run",
    is_flag=True,
    help="Show how many emails a run would make, and the limits; add nothing.",
)
@project_option
@json_option
def add(*, name: str, dry_run: bool, project: str, **given: Any) -> None:
    """Add a schedule called NAME."""

    async def added(app: Opened) -> Schedule | ScheduleEstimate:
        project_id = await project_id_of(app.conn, project)
        definition = definition_of(name, given)
        act = try_out if dry_run else schedules.add
        return await act(app.conn, project_id, definition, by=operator())

    _print(execute(added))


@schedule.command(
    epilog=examples("mailqueue schedule change digest --cron '0 8 * * mon' --to subscribers")
)
@schedule_argument
@schedule_options
@project_option
@json_option
def change(*, name: str, project: str, **given: Any) -> None:
    """Replace what SCHEDULE does, with all of its options; runs that were made stay."""

    async def changed(app: Opened, project_id: UUID, schedule_id: UUID) -> Schedule:
        known = await schedules.get(app.conn, project_id, schedule_id)
        definition = definition_of(known.name or "", given)
        return await schedules.change(app.conn, project_id, schedule_id, definition, by=operator())

    _print(_done(project, name, changed))


@schedule.command("list", epilog=examples("mailqueue schedule list --status active --json"))
@click.option(
    "--status",
    type=click.Choice([one.value for one in ScheduleStatus]),
    help="Only schedules in this state.",
)
@project_option
@json_option
def list_(*, status: str | None, project: str) -> None:
    """List schedules, newest first."""

    async def listed(app: Opened) -> Page[Schedule]:
        project_id = await project_id_of(app.conn, project)
        return await schedules.list_page(
            app.conn, project_id, status=status, before=None, limit=MAX_LISTED
        )

    found = execute(listed)
    print_rows(found.data, _COLUMNS, document=found)


@schedule.command("show", epilog=examples("mailqueue schedule show digest"))
@schedule_argument
@project_option
@json_option
def show_(*, name: str, project: str) -> None:
    """Show SCHEDULE, a name or an id."""
    _print(_done(project, name, lambda app, *ids: schedules.get(app.conn, *ids)))


@schedule.command(epilog=examples("mailqueue schedule runs digest"))
@schedule_argument
@project_option
@json_option
def runs(*, name: str, project: str) -> None:
    """List the runs of SCHEDULE, newest first."""

    async def listed(app: Opened, project_id: UUID, schedule_id: UUID) -> Page[ScheduleRun]:
        return await schedules.runs(
            app.conn, project_id, schedule_id, before=None, limit=MAX_LISTED
        )

    found = _done(project, name, listed)
    print_rows(found.data, _RUN_COLUMNS, document=found)


@schedule.command(epilog=examples("mailqueue schedule preview digest --count 10"))
@schedule_argument
@click.option(
    "--count",
    type=click.IntRange(1, MAX_PREVIEW),
    default=5,
    show_default=True,
    help="Number of runs.",
)
@project_option
@json_option
def preview(*, name: str, count: int, project: str) -> None:
    """List the next runs of SCHEDULE."""

    async def listed(app: Opened, project_id: UUID, schedule_id: UUID) -> NextRuns:
        return await schedules.next_runs(app.conn, project_id, schedule_id, count=count)

    found = _done(project, name, listed)
    print_rows(found.data, _NEXT_COLUMNS, document=found)


@schedule.command(epilog=examples("mailqueue schedule estimate digest"))
@schedule_argument
@project_option
@json_option
def estimate(*, name: str, project: str) -> None:
    """Show how many emails a run of SCHEDULE would make, and the limits. Nothing is sent."""
    _print(_done(project, name, lambda app, *ids: schedules.estimate(app.conn, *ids)))


@schedule.command(epilog=examples("mailqueue schedule pause digest"))
@schedule_argument
@project_option
@json_option
def pause(*, name: str, project: str) -> None:
    """Pause SCHEDULE."""
    _print(_done(project, name, lambda app, *ids: schedules.pause(app.conn, *ids, by=operator())))


@schedule.command(epilog=examples("mailqueue schedule resume digest"))
@schedule_argument
@project_option
@json_option
def resume(*, name: str, project: str) -> None:
    """Resume SCHEDULE with its first run from now on."""
    _print(_done(project, name, lambda app, *ids: schedules.resume(app.conn, *ids, by=operator())))


@schedule.command(epilog=examples("mailqueue schedule run digest --yes"))
@schedule_argument
@project_option
@json_option
@asks_first("Run schedule {name} of project {project} now?")
def run(*, name: str, project: str) -> None:
    """Run SCHEDULE now, beside its other runs."""
    _print(_done(project, name, lambda app, *ids: schedules.run(app.conn, *ids, by=operator())))


@schedule.command(epilog=examples("mailqueue schedule skip digest"))
@schedule_argument
@project_option
@json_option
def skip(*, name: str, project: str) -> None:
    """Leave the next run of SCHEDULE out."""
    _print(_done(project, name, lambda app, *ids: schedules.skip(app.conn, *ids, by=operator())))


@schedule.command(epilog=examples("mailqueue schedule remove digest --yes"))
@schedule_argument
@project_option
@json_option
@asks_first("Cancel schedule {name} of project {project}?")
def remove(*, name: str, project: str) -> None:
    """Cancel SCHEDULE; the answer says whether it had run."""
    _print(_done(project, name, lambda app, *ids: schedules.cancel(app.conn, *ids, by=operator())))


def _done(project: str, name: str, verb: Verb[T]) -> T:
    """Run a verb with the ids of the project and of the schedule of that name or id."""

    async def found(app: Opened) -> T:
        project_id = await project_id_of(app.conn, project)
        schedule_id = await schedules.named(app.conn, project_id, name)
        return await verb(app, project_id, schedule_id)

    return execute(found)


def _print(one: Value) -> None:
    facts = asdict(one)  # type: ignore[call-overload]
    print_facts(one, [(key.replace("_", " "), value) for key, value in facts.items()])
