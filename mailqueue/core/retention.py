"""How long a kind of record is kept, and how it leaves. Values."""

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


def of_month(kind: str, table: str, time_column: str) -> Retained:
    return Retained(
        kind, table, time_column, Removal.BY_MONTH, days=90, cold_days=730, keep_days=2557
    )


def of_counts(table: str, time_column: str, *, days: int) -> Retained:
    return Retained(
        *(table, table, time_column, Removal.SWEPT),
        days=days,
        is_global=True,
        batch=20_000,
        privacy=Privacy.SPECIAL,
    )
