"""A person whose data is exported or erased."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from mailqueue.contract.value import Value


@dataclass(frozen=True, slots=True)
class ExportedPerson(Value):
    """Everything the project stores about a person."""

    email: str
    mails: Sequence[Mapping[str, Any]]
    records: Mapping[str, Sequence[Mapping[str, Any]]]
    archives: str | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ErasureState(Value):
    """State of an erasure."""

    id: UUID
    email_hash: str
    state: str
    """`done`, or `running` while files or emails being sent are left."""
    rows: Mapping[str, int]
    """Number of rows that were changed or deleted, by table."""
    requested_at: datetime
    finished_at: datetime | None
