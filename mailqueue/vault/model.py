"""What the vault keeps. Values only."""

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID


class WrappedBy(StrEnum):
    """Whose key a data key is wrapped by."""

    PLATFORM = "platform"  # the master key
    OWN = "own"  # the project's, which we do not have


@dataclass(frozen=True, slots=True)
class OwnKey:
    """A key that a project keeps to itself. It is never stored; its `id` is."""

    key: bytes = field(repr=False)

    @property
    def id(self) -> str:
        """Name the key without telling it: 16 hexadecimal digits of a hash."""
        return hashlib.sha256(b"mailqueue own key" + self.key).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class WrappedKey:
    """A data key as it lies in the database."""

    id: UUID
    project_id: UUID
    master_key_id: str
    wrapped: bytes = field(repr=False)
    wrapped_by: WrappedBy = WrappedBy.PLATFORM

    def __post_init__(self) -> None:
        object.__setattr__(self, "wrapped_by", WrappedBy(self.wrapped_by))


@dataclass(frozen=True, slots=True)
class KeyGrant:
    """A data key that its project lets us use until an instant."""

    data_key_id: UUID
    project_id: UUID
    master_key_id: str
    wrapped: bytes = field(repr=False)
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class SealedRow:
    """A sealed value and the row it stands in."""

    row_id: str
    sealed: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class ProjectVault:
    """How a project's secrets are kept."""

    project: str
    wrapped_by: WrappedBy
    master_key_id: str  # or the id of the project's own key
    data_keys: int
    to_clear: int  # of these, replaced ones with which something is still sealed
    is_locked: bool
    unlocked_until: datetime | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "wrapped_by", WrappedBy(self.wrapped_by))
