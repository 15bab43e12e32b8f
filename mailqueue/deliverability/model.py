"""What a DKIM key is. Values only."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from mailqueue.dkim.keys import Algorithm
from mailqueue.dkim.record import record_name, record_text


class KeyStatus(StrEnum):
    """Where a key stands in its life."""

    PENDING = "pending"  # its record is not known to be in DNS
    ACTIVE = "active"  # it signs
    RETIRED = "retired"  # another signs; mail it signed may still be on the way
    REVOKED = "revoked"  # destroyed


@dataclass(frozen=True, slots=True)
class SigningProject:
    """A project as signing sees it."""

    id: UUID
    name: str
    is_dkim_required: bool


@dataclass(frozen=True, slots=True)
class DkimKey:
    """A key of a project's domain, without its private half."""

    id: UUID
    project_id: UUID
    project: str
    domain: str
    selector: str
    algorithm: Algorithm
    public_key: str
    status: KeyStatus
    created_at: datetime
    seen_at: datetime | None
    active_at: datetime | None
    retired_at: datetime | None
    needed_until: datetime | None
    revoked_at: datetime | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "algorithm", Algorithm(self.algorithm))
        object.__setattr__(self, "status", KeyStatus(self.status))

    @property
    def name(self) -> str:
        """Return the name its record stands under."""
        return record_name(self.selector, self.domain)

    @property
    def text(self) -> str:
        """Return what its record has to say now: an empty p= once it is revoked."""
        is_revoked = self.status is KeyStatus.REVOKED
        return record_text(self.algorithm, "" if is_revoked else self.public_key)


@dataclass(frozen=True, slots=True)
class KeyInForce:
    """A key that signs, as it lies in the database."""

    id: UUID
    domain: str
    selector: str
    algorithm: str
    private_key: bytes = field(repr=False)
