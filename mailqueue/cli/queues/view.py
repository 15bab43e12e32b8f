"""Output of rows of the queues besides mail."""

import click

from mailqueue.cli.support.output import Column, facts
from mailqueue.contract.operations import ExplainedRow
from mailqueue.operations.model import PRIORITIES

ROWS = (
    Column("id", "ID"),
    Column("status", "STATUS"),
    Column("run_at", "DUE"),
    Column("attempts", "ATTEMPTS", numeric=True),
    Column("crashes", "CRASHES", numeric=True),
    Column("worker_id", "WORKER", numeric=True),
    Column("last_error", "LAST ERROR"),
)
KEYS = (
    Column("queue", "QUEUE"),
    Column("subject", "KEY"),
    Column("project", "PROJECT"),
    Column("circuit", "CIRCUIT"),
    Column("failures", "FAILURES", numeric=True),
    Column("failing_since", "FAILING SINCE"),
    Column("blocked_until", "SET ASIDE UNTIL"),
    Column("last_error", "LAST ERROR"),
)
CHANGED = (Column("queue", "QUEUE"), Column("rows", "ROWS", numeric=True))


def print_row(found: ExplainedRow) -> None:
    """Print a row with the reason for its state."""
    row = found.row
    click.echo(found.why)
    click.echo()
    pairs = (
        ("id", row.id),
        ("queue", row.queue),
        ("project", row.project_id),
        ("status", row.status),
        ("priority", PRIORITIES[row.priority] if row.priority in range(4) else row.priority),
        ("created", row.created_at),
        ("due", None if row.finished_at else row.run_at),
        ("finished", row.finished_at),
        ("attempts", f"{row.attempts} of {row.max_attempts}"),
        ("crashes", row.crashes or None),
        ("worker", row.worker_id),
        ("assigned", row.assigned_at),
        ("lease until", row.lease_until),
        ("last error", row.last_error),
    )
    facts((name, value) for name, value in pairs if value is not None)
