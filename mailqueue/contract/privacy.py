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


@dataclass(frozen=True, slots=True)
class MentionCount(Value):
    """Number of rows of a table that name a person."""

    project: str
    table: str
    rows: int
    is_settings: bool
    """Configuration: exported, and not changed."""


@dataclass(frozen=True, slots=True)
class ProjectExport(ExportedPerson):
    """Everything one project stores about a person."""

    project: str


@dataclass(frozen=True, slots=True)
class PersonExport(Value):
    """Everything all projects store about a person."""

    email: str
    projects: Sequence[ProjectExport]


@dataclass(frozen=True, slots=True)
class CountedPerson(Value):
    """Rows that name a person, and would be erased."""

    erased: bool
    rows: Sequence[MentionCount]


@dataclass(frozen=True, slots=True)
class ProjectErasure(ErasureState):
    """The erasure of a person in one project."""

    project: str
    waiting: int
    """Number of emails that are being sent at this moment."""


@dataclass(frozen=True, slots=True)
class PersonErasure(Value):
    """The erasure of a person in each project."""

    erased: bool
    """Whether nothing is left to do."""
    projects: Sequence[ProjectErasure]
