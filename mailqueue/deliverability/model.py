"""What a DKIM key is. Values only."""

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from mailqueue.contract.domains import DkimKeyStatus
from mailqueue.dkim.keys import Algorithm
from mailqueue.dkim.record import record_name, record_text


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
    status: DkimKeyStatus
    created_at: datetime
    seen_at: datetime | None
    active_at: datetime | None
    retired_at: datetime | None
    needed_until: datetime | None
    revoked_at: datetime | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "algorithm", Algorithm(self.algorithm))
        object.__setattr__(self, "status", DkimKeyStatus(self.status))

    @property
    def name(self) -> str:
        """Return the name its record stands under."""
        return record_name(self.selector, self.domain)

    @property
    def text(self) -> str:
        """Return what its record has to say now: an empty p= once it is revoked."""
        is_revoked = self.status is DkimKeyStatus.REVOKED
        return record_text(self.algorithm, "" if is_revoked else self.public_key)


@dataclass(frozen=True, slots=True)
class KeyInForce:
    """A key that signs, as it lies in the database."""

    id: UUID
    domain: str
    selector: str
    algorithm: str
    private_key: bytes = field(repr=False)
