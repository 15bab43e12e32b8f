"""The upkeep of an installation: its schema, maintenance, archive and keys."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

from mailqueue.contract.value import Value


@dataclass(frozen=True, slots=True)
class ArchiveFile(Value):
    """An archive file, as shown to operators."""

    id: int
    project: str | None
    kind: str
    month: date
    part: int
    state: str
    tier: str
    records: int | None
    bytes: int | None
    first_at: datetime | None
    last_at: datetime | None
    store: str
    path: str
    sha256: str | None
    written_at: datetime
    verified_at: datetime | None
    archived_at: datetime | None
    keep_until: datetime | None
    purged_at: datetime | None


@dataclass(frozen=True, slots=True)
class VerifiedFile(Value):
    """Result of verifying one file; `fault` is None where it is intact."""

    id: int
    path: str
    records: int
    fault: str | None


@dataclass(frozen=True, slots=True)
class Restored(Value):
    """A restored file; `records` is the number of rows inserted."""

    id: int
    path: str
    records: int


@dataclass(frozen=True, slots=True)
class Rotated(Value):
    """The result of rotating the master key or the data keys."""

    rewrapped: int
    """Data keys, grants and keys of the audit log now wrapped by the current master key."""
    renewed: int
    """Projects with a new data key."""
    resealed: int
    """Values sealed with the new data keys."""
    damaged: tuple[str, ...]
    """Values that no key opens, one sentence each; unchanged."""


@dataclass(frozen=True, slots=True)
class AppliedMigration(Value):
    """A migration as recorded in the database."""

    version: int
    name: str
    sha256: str
    applied_at: datetime


@dataclass(frozen=True, slots=True)
class Applied(Value):
    """The result of a run of the migrations."""

    version: int
    migrations: tuple[str, ...]
    """File names."""
    objects: int
    """Files of functions, views, comments and grants that were re-applied."""


@dataclass(frozen=True, slots=True)
class SchemaStatus(Value):
    """Version of a database's schema, and what is not applied."""

    version: int
    newest_known: int
    is_current: bool
    objects_are_current: bool
    """Whether functions, views, comments and grants are those of this release."""
    pending: Sequence[str]
    """File names of migrations."""
    applied: Sequence[AppliedMigration]


@dataclass(frozen=True, slots=True)
class ArchiveFiles(Value):
    """Files of archived records, oldest month first."""

    archives: Sequence[ArchiveFile]


@dataclass(frozen=True, slots=True)
class VerifiedFiles(Value):
    """Files that were read and compared with the manifest."""

    whole: bool
    archives: Sequence[VerifiedFile]


@dataclass(frozen=True, slots=True)
class RestoredFiles(Value):
    """Files whose records are in their tables again."""

    archives: Sequence[Restored]


@dataclass(frozen=True, slots=True)
class MaintenanceTask(Value):
    """A task of maintenance and what it does."""

    task: str
    purpose: str


@dataclass(frozen=True, slots=True)
class MaintenanceTasks(Value):
    """All tasks, in the order in which they run."""

    tasks: Sequence[MaintenanceTask]


@dataclass(frozen=True, slots=True)
class MaintenanceResult(Value):
    """The result of one task."""

    task: str
    was_busy: bool
    """Whether another process runs it; it was skipped."""
    summary: str
    counts: Mapping[str, int]
    needs: Sequence[str]
    """What has to be done by hand."""


@dataclass(frozen=True, slots=True)
class MaintenanceResults(Value):
    """The results of all tasks that were to run."""

    needs_person: bool
    tasks: Sequence[MaintenanceResult]


class WrappedBy(StrEnum):
    """The kind of key that wraps a data key."""

    PLATFORM = "platform"  # the master key
    OWN = "own"  # the project's, which is not stored here


@dataclass(frozen=True, slots=True)
class ProjectVault(Value):
    """The state of a project's keys."""

    project: str
    wrapped_by: WrappedBy
    master_key_id: str
    """Or the id of the project's own key."""
    data_keys: int
    to_clear: int
    """Replaced keys with which something is still sealed."""
    is_locked: bool
    unlocked_until: datetime | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "wrapped_by", WrappedBy(self.wrapped_by))


@dataclass(frozen=True, slots=True)
class ProjectKeys(ProjectVault):
    """The same, and whether it can be used."""

    state: str


@dataclass(frozen=True, slots=True)
class VaultOverview(Value):
    """Hashes of the master keys at hand, and the data keys of each project."""

    master_keys: Sequence[str]
    projects: Sequence[ProjectKeys]
