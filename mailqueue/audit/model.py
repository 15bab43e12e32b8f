"""Values: a search of the audit log, its rows, and their seals."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from mailqueue.contract.projects import AuditEvent


@dataclass(frozen=True, slots=True)
class AuditSearch:
    """Filters of the audit log; None matches everything.

    `action` is a whole action, such as `api_key.revoked`, or the word on one side of its point.
    `actor` and `subject` are parts of theirs, in any case. `until` is exclusive.
    """

    project_id: UUID | None = None  # None: all projects and the installation
    action: str | None = None
    actor: str | None = None
    subject: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Audit events, newest first; `next` is the id before which the search goes on.

    `looked_until` is that id where the search stopped because it had looked at enough rows.
    """

    events: list[AuditEvent]
    next: int | None
    looked_until: int | None = None


class SealState(StrEnum):
    """Whether a row is as it was sealed."""

    SEALED = "sealed"
    WAITING = "waiting"  # it is sealed within the hour
    CHANGED = "changed"  # it differs from its seal
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class SealCheck:
    """One row compared with its seal."""

    state: SealState
    sealed_at: datetime | None = None
    why_not: str | None = None  # with UNKNOWN


class SealKind(StrEnum):
    """What a seal stands for."""

    ROW = "row"  # a row, when it was first sealed
    CHANGE = "change"  # the same row after a permitted change
    CUT = "cut"  # the seals up to here, which were deleted with their rows by retention


class AuditRow(NamedTuple):
    """A row of audit_events.

    `fields` are the project, the time in UTC with microseconds, the action, the actor, the subject,
    and the detail, as PostgreSQL prints it.
    """

    id: int
    fields: Sequence[str | None]

    @property
    def fixed(self) -> list[str | None]:
        """Return what never changes: id, project, time and action."""
        return [str(self.id), *self.fields[:3]]

    @property
    def text(self) -> str:
        """Return what an erasure may change, in the notation of JSON: actor, subject, detail."""
        return json.dumps(self.fields[3:5], ensure_ascii=False) + str(self.fields[5])

    def __str__(self) -> str:
        _, occurred_at, action, _, subject, _ = map(str, self.fields)
        return f"row {self.id} ({occurred_at[:19]} UTC, {action}, {subject[:100]})"


@dataclass(frozen=True, slots=True)
class Seal:
    """A row of audit_seals. `settled_id`: no row up to this id could be added when it was made."""

    position: int
    kind: str
    event_id: int | None
    settled_id: int
    sealed_at: str
    key_id: UUID
    reason: str | None
    row_code: bytes
    skeleton: bytes | None
    addresses: bytes | None
    code: bytes = b""

    @property
    def time(self) -> datetime | None:
        """Return when it was made; None for a time that is not finite."""
        try:
            return datetime.fromisoformat(self.sealed_at).replace(tzinfo=UTC)
        except ValueError:
            return None

    @property
    def chained(self) -> bytes:
        """Return the code that the next seal includes."""
        return self.row_code if self.kind == SealKind.CUT else self.code

    @property
    def head(self) -> str:
        """Return the position and the code, by which this state of the log is recognised."""
        return f"{self.position}:{self.chained.hex()}"
