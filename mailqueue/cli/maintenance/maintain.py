"""`mailqueue maintain`: maintenance tasks, run by cron or by hand."""

import click

from mailqueue.cli.maintenance.context import maintenance_context
from mailqueue.cli.support.answer import json_option, print_result, print_rows, prints_json
from mailqueue.cli.support.app import run
from mailqueue.cli.support.output import Column, examples, paint
from mailqueue.cli.support.progress import progress
from mailqueue.contract.maintenance import (
    MaintenanceResult,
    MaintenanceResults,
    MaintenanceTask,
    MaintenanceTasks,
)
from mailqueue.maintenance import tasks
from mailqueue.maintenance.model import Task, TaskResult

EXIT_NEEDS_PERSON = 1


@click.command(
    epilog=examples(
        "mailqueue maintain",
        "mailqueue maintain partitions archive",
        "mailqueue maintain --list",
        "0 3 * * *  mailqueue maintain    # in a crontab",
    )
)
@click.argument(
    "names", metavar="[TASK]...", nargs=-1, type=click.Choice([each.value for each in Task])
)
@click.option("--list", "only_list", is_flag=True, help="List the tasks and run none.")
@json_option
@click.pass_context
def maintain(ctx: click.Context, *, names: tuple[str, ...], only_list: bool) -> None:
    """Run maintenance: partitions, retention, archive, statistics.

    Runs all tasks, or those named, and prints a line for each. Exit 1 if a task needs attention.
    Safe to run twice and on two hosts at once: each task runs in one process at a time and
    continues an interrupted run.
    """
    if only_list:
        _list()
        return
    wanted = [task for task in Task if task in names] if names else list(Task)
    done = run(_run(wanted))
    needs_person = any(each.needs_person for each in done)
    # As text each task is reported as soon as it ends.
    document = MaintenanceResults(needs_person, [_document(each) for each in done])
    print_result(document, lambda: None)
    if needs_person:
        ctx.exit(EXIT_NEEDS_PERSON)


async def _run(chosen: list[Task]) -> list[TaskResult]:
    with progress("maintenance", None) as advance:
        async with maintenance_context(advance) as desk:
            return await tasks.run(desk, chosen, tell=_silent if prints_json() else _tell)


def _tell(done: TaskResult) -> None:
    click.echo(f"{paint(done.task, bold=True)}: {done.report.summary}")
    for need in done.report.needs:
        click.echo(f"{paint('needs you', colour='red')}: {need}", err=True)


def _silent(_: TaskResult) -> None:
    return


def _document(done: TaskResult) -> MaintenanceResult:
    return MaintenanceResult(
        task=done.task,
        was_busy=done.is_busy,
        summary=done.report.summary,
        counts=done.report.counts,
        needs=done.report.needs,
    )


def _list() -> None:
    rows = [MaintenanceTask(task, tasks.PURPOSE_BY_TASK[task]) for task in Task]
    columns = [Column("task", "TASK"), Column("purpose", "WHAT IT DOES")]
    print_rows(rows, columns, document=MaintenanceTasks(rows))
