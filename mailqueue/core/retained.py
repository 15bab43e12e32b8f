"""RETAINED: the tables whose rows are deleted after some days, one row each.

`docs/adding/table.md` is the guide to adding one.
"""

from dataclasses import dataclass
from enum import StrEnum


class Privacy(StrEnum):
    """What becomes of rows that name a person who is erased."""

    REDACT = "redact"  # the name is replaced in all columns
    DELETE = "delete"  # the row goes
    SPECIAL = "special"  # as sql/functions/privacy/tables.sql says of this table


class Leaves(StrEnum):
    """How rows leave."""

    BY_MONTH = "by_month"  # by project and month, to the archive: see maintenance/archive
    SWEPT = "swept"  # in batches, by the time in a column
    SPECIAL = "special"  # by a statement of their own in maintenance/retention.py


@dataclass(frozen=True, slots=True)
class Retained:
    """How long one kind of record is kept.

    Days are those of projects without a rule of their own; `cold_days` and `keep_days` None mean
    never. `ended_column` is a column that is null while a row may not leave yet.
    """

    kind: str
    table: str
    time_column: str
    leaves: Leaves
    days: int
    cold_days: int | None = None
    keep_days: int | None = None
    is_global: bool = False
    """Whether no project has a rule of its own."""
    ended_column: str | None = None
    privacy: Privacy = Privacy.REDACT

    @property
    def is_archived(self) -> bool:
        return self.leaves is Leaves.BY_MONTH


def _of_month(kind: str, table: str, time_column: str) -> Retained:
    return Retained(
        kind, table, time_column, Leaves.BY_MONTH, days=90, cold_days=730, keep_days=2557
    )


RETAINED = (
    _of_month("email_history", "email_history", "finished_at"),
    _of_month("send_logs", "send_logs", "sent_at"),
    _of_month("email_events", "email_events", "occurred_at"),
    Retained(
        "opens_clicks", "email_events", "occurred_at", Leaves.BY_MONTH, days=365, keep_days=365
    ),
    _of_month("email_contents", "email_contents", "created_on"),
    Retained(
        "attachments",
        "attachments",
        "created_on",
        Leaves.BY_MONTH,
        days=90,
        cold_days=730,
        keep_days=2557,
        privacy=Privacy.SPECIAL,
    ),
    Retained(
        "idempotency_keys",
        "idempotency_keys",
        "created_at",
        Leaves.SPECIAL,
        days=400,
        privacy=Privacy.DELETE,
    ),
    Retained(
        "trap_messages",
        "trap_messages",
        "received_at",
        Leaves.SPECIAL,
        days=30,
        is_global=True,
        privacy=Privacy.DELETE,
    ),
    Retained("webhook_deliveries", "webhook_deliveries", "created_at", Leaves.SPECIAL, days=30),
    Retained(
        "workers",
        "workers",
        "stopped_at",
        Leaves.SPECIAL,
        days=30,
        is_global=True,
        privacy=Privacy.SPECIAL,
    ),
    Retained("event_keys", "event_keys", "recorded_on", Leaves.SPECIAL, days=400, is_global=True),
    Retained(
        "inbound_events",
        "inbound_events",
        "received_at",
        Leaves.SWEPT,
        days=30,
        is_global=True,
        ended_column="finished_at",
        privacy=Privacy.SPECIAL,
    ),
    Retained("limit_days", "limit_days", "day", Leaves.SPECIAL, days=800, is_global=True),
)
