"""`mailqueue platform partitions`, `disk` and `tasks`: what fills and what clears the disks."""

import click

from mailqueue.admin import infrastructure
from mailqueue.cli.support.answer import execute, json_option, print_result, print_rows
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.output import Column, examples, facts
from mailqueue.contract.infrastructure import DiskUsage, MaintenanceRun, TablePartition

_PARTITIONS = (
    Column("name", "TABLE"),
    Column("rows_estimate", "ROWS"),
    Column("bytes", "BYTES"),
    Column("leaves_from", "ROWS LEAVE FROM"),
    Column("dropped_from", "DROPPED AFTER"),
)
_TASKS = (
    Column("task", "TASK"),
    Column("due_at", "DUE"),
    Column("last_run_at", "LAST RUN"),
    Column("last_seconds", "SECONDS"),
    Column("last_error", "ERROR"),
)


@click.command(epilog=examples("mailqueue platform partitions"))
@json_option
def partitions() -> None:
    """List the monthly tables, with sizes and when their rows leave."""
    print_rows(execute(_partitions), _PARTITIONS, nothing="there is no monthly table")


@click.command(epilog=examples("mailqueue platform disk"))
@json_option
def disk() -> None:
    """Show the database, the largest tables and what is left of the disks, in bytes."""
    found = execute(_disk)
    print_result(found, lambda: facts(_shown(found)))


@click.command(epilog=examples("mailqueue platform tasks"))
@json_option
def tasks() -> None:
    """List maintenance tasks, with their last runs."""
    print_rows(execute(_tasks), _TASKS, nothing="there is no task")


def _shown(found: DiskUsage) -> list[tuple[str, object]]:
    """Return names with numbers of bytes."""
    return [
        ("database", found.database_bytes),
        ("size limit", found.size_limit_bytes),
        *((f"free on {each.host} ({each.place})", each.free_bytes) for each in found.spaces),
        *((f"WAL kept by slot {each.name}", each.kept_bytes) for each in found.slots),
        *((f"table {each.name}", each.bytes) for each in found.tables),
    ]


async def _partitions(app: Opened) -> list[TablePartition]:
    return await infrastructure.partitions(app.conn)


async def _disk(app: Opened) -> DiskUsage:
    return await infrastructure.disk(app.conn)


async def _tasks(app: Opened) -> list[MaintenanceRun]:
    return await infrastructure.tasks(app.conn)
