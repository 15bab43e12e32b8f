"""Exports of a project's data to files."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from mailqueue.contract.value import Value


class ExportKind(StrEnum):
    """What is exported."""

    EMAILS = "emails"
    EVENTS = "events"
    RECIPIENTS = "recipients"
    STATS = "stats"
    SUPPRESSIONS = "suppressions"
    PERSON = "person"


class ExportFormat(StrEnum):
    """Format of the file."""

    CSV = "csv"
    JSON = "json"
    NDJSON = "ndjson"
    PARQUET = "parquet"


@dataclass(frozen=True, slots=True)
class DataExport(Value):
    """An export of a project's data to a file."""

    id: UUID
    project: str
    kind: ExportKind
    """`emails`, `events`, `recipients`, `stats` or `suppressions`; `person`: what is stored about a
    person, who asked for it in the preference centre."""
    format: ExportFormat
    """`csv`, `json` (an array), `ndjson` (one object per line) or `parquet`."""
    filter: dict[str, Any]
    """Conditions but the time."""
    since: datetime | None
    """Start of the time; null: no bound."""
    until: datetime
    """End of the time."""
    is_test: bool
    state: str
    """`waiting`, `running`, `done`, `failed`; without its file `deleted`, `expired` or `erased`."""
    rows: int
    """Number of rows that are written."""
    rows_estimated: int
    """Number of rows in the time, by the statistics of PostgreSQL."""
    bytes: int
    """Size of the rows that are written, in bytes; of `parquet` as lines of JSON."""
    requested_by: str
    error: str | None
    created_at: datetime
    finished_at: datetime | None
    expires_at: datetime | None
    """Time at which the file is deleted; null while the export is not done."""
    download_url: str | None = None
    """Link to the file, which needs no key; null if the export is not done."""
    download_until: datetime | None = None
    """End of that link; ask again for a new one."""
