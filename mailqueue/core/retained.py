"""RETAINED: the tables whose rows are deleted after some days, one row each.

`docs/adding/table.md` is the guide to adding one.
"""

from dataclasses import dataclass
from enum import StrEnum


class Privacy(StrEnum):
    """What is done with rows that name an erased person."""

    REDACT = "redact"  # the name is replaced in all columns
    DELETE = "delete"  # the row is deleted
    SPECIAL = "special"  # see sql/functions/privacy/tables.sql


class Removal(StrEnum):
    """How expired rows are removed."""

    BY_MONTH = "by_month"  # by project and month, into the archive: see maintenance/archive
    SWEPT = "swept"  # in batches, by the time in a column
    SPECIAL = "special"  # by its own statements in maintenance/retention.py


@dataclass(frozen=True, slots=True)
class Retained:
    """How long one kind of record is kept.

    The days apply to projects without a rule of their own; `cold_days` and `keep_days` None mean
    never. `ended_column` is null while a row must be kept; `else_column` has the age of rows
    in which `time_column` is null; `kept_while` is an SQL condition under which row `o` is kept.
    """

    kind: str
    table: str
    time_column: str
    leaves: Removal
    days: int
    cold_days: int | None = None
    keep_days: int | None = None
    is_global: bool = False
    """Whether the days are the same for all projects."""
    ended_column: str | None = None
    else_column: str | None = None
    kept_while: str | None = None
    batch: int = 5_000
    """Rows that are deleted in one transaction."""
    privacy: Privacy = Privacy.REDACT

    @property
    def is_archived(self) -> bool:
        return self.leaves is Removal.BY_MONTH


def _of_month(kind: str, table: str, time_column: str) -> Retained:
    return Retained(
        kind, table, time_column, Removal.BY_MONTH, days=90, cold_days=730, keep_days=2557
    )


RETAINED = (
    _of_month("email_history", "email_history", "finished_at"),
    _of_month("send_logs", "send_logs", "sent_at"),
    _of_month("email_events", "email_events", "occurred_at"),
    Retained(
        "opens_clicks", "email_events", "occurred_at", Removal.BY_MONTH, days=365, keep_days=365
    ),
    _of_month("email_contents", "email_contents", "created_on"),
    Retained(
        "attachments",
        "attachments",
        "created_on",
        Removal.BY_MONTH,
        days=90,
        cold_days=730,
        keep_days=2557,
        privacy=Privacy.SPECIAL,
    ),
    Retained(
        "idempotency_keys",
        "idempotency_keys",
        "created_at",
        Removal.SPECIAL,  # page by page: there may be very many, and no index by age
        days=400,
        kept_while="EXISTS (SELECT FROM mailqueue.email_queue AS q WHERE q.id = o.email_id)",
        privacy=Privacy.DELETE,
    ),
    Retained(
        "trap_messages",
        "trap_messages",
        "received_at",
        Removal.SWEPT,
        days=30,
        is_global=True,
        batch=500,
        privacy=Privacy.DELETE,
    ),
    Retained(
        "webhook_deliveries",
        "webhook_deliveries",
        "created_at",
        Removal.SPECIAL,  # in the order of ids, with their attempts, and their events a day later
        days=30,
        kept_while="o.status = 'assigned'",
    ),
    Retained(
        "workers",
        "workers",
        "stopped_at",
        Removal.SWEPT,
        days=30,
        is_global=True,
        else_column="lost_at",
        kept_while=(
            "EXISTS (SELECT FROM mailqueue.send_intents AS s WHERE s.worker_id = o.id)"
            " OR EXISTS (SELECT FROM mailqueue.email_queue AS q"
            " WHERE q.status = 'assigned' AND q.worker_id = o.id)"
            # Its id is part of send_progress(), which never falls.
            " OR o.id = (SELECT max(w.id) FROM mailqueue.workers AS w)"
        ),
        privacy=Privacy.SPECIAL,
    ),
    Retained(
        "event_keys",
        "event_keys",
        "recorded_on",
        Removal.SWEPT,
        days=400,
        is_global=True,
        batch=20_000,
    ),
    Retained(
        "inbound_events",
        "inbound_events",
        "received_at",
        Removal.SWEPT,
        days=30,
        is_global=True,
        ended_column="finished_at",
        privacy=Privacy.SPECIAL,
    ),
    Retained(
        "audit_events",
        "audit_events",
        "occurred_at",
        Removal.SPECIAL,  # with their seals, which needs the master key
        days=36_500,  # permanently, unless a rule says otherwise
        is_global=True,
    ),
    Retained(
        "limit_days",
        "limit_days",
        "day",
        Removal.SWEPT,
        days=800,
        is_global=True,
        kept_while=(
            "EXISTS (SELECT FROM mailqueue.limits AS m WHERE m.id = o.limit_id"
            " AND m.warm_up IS NOT NULL AND o.day >= m.warm_up_from)"
        ),
    ),
    Retained(
        "console_sessions",
        "console_sessions",
        "expires_at",
        Removal.SWEPT,
        days=30,
        is_global=True,
    ),
    Retained(
        "console_actions",
        "console_actions",
        "used_at",
        Removal.SWEPT,
        days=2,
        is_global=True,
        privacy=Privacy.SPECIAL,
    ),
    Retained(
        "console_attempts",
        "console_attempts",
        "next_at",
        Removal.SWEPT,
        days=2,
        is_global=True,
        privacy=Privacy.SPECIAL,
    ),
)
