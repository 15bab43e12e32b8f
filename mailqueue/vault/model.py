"""Wrapped keys, grants and sealed rows. Values only."""

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from mailqueue.contract.maintenance import WrappedBy


@dataclass(frozen=True, slots=True)
class OwnKey:
    """A project's own key. It is never stored; its `id` is."""

    key: bytes = field(repr=False)

    @property
    def id(self) -> str:
        """Return an id that does not reveal the key: 16 hexadecimal digits of a hash."""
        return hashlib.sha256(b"mailqueue own key" + self.key).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class WrappedKey:
    """A data key as stored in the database."""

    id: UUID
    project_id: UUID
    master_key_id: str
    wrapped: bytes = field(repr=False)
    wrapped_by: WrappedBy = WrappedBy.PLATFORM

    def __post_init__(self) -> None:
        object.__setattr__(self, "wrapped_by", WrappedBy(self.wrapped_by))


@dataclass(frozen=True, slots=True)
class AuditKey:
    """A key of the audit log as stored; `made_under` is the master key at its creation."""

    id: UUID
    master_key_id: str
    wrapped: bytes = field(repr=False)
    made_under: str = ""


@dataclass(frozen=True, slots=True)
class SealedSecondFactor:
    """The secret of a second factor of a user of the console, as stored."""

    user_id: UUID
    master_key_id: str
    sealed: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class KeyGrant:
    """A data key that its project allows to be used until a time."""

    data_key_id: UUID
    project_id: UUID
    master_key_id: str
    wrapped: bytes = field(repr=False)
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class SealedRow:
    """A sealed value, the id of its row, and the server that it is bound to."""

    row_id: str
    sealed: bytes = field(repr=False)
    server: str = ""
