"""Values: rows of the audit log, and their seals."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID


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
    def chained(self) -> bytes:
        """Return the code that the next seal includes."""
        return self.row_code if self.kind == SealKind.CUT else self.code

    @property
    def head(self) -> str:
        """Return the position and the code, by which this state of the log is recognised."""
        return f"{self.position}:{self.chained.hex()}"
