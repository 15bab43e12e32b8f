"""DKIM keys and stored checks of domains. Values only."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from mailqueue.contract.domains import (
    DkimKeyStatus,
    DnsRecord,
    DomainFinding,
    DomainRecords,
    FindingStatus,
)
from mailqueue.dkim.keys import Algorithm
from mailqueue.dkim.record import record_name, record_text


@dataclass(frozen=True, slots=True)
class SigningProject:
    """The properties of a project that concern signing."""

    id: UUID
    name: str
    is_dkim_required: bool


@dataclass(frozen=True, slots=True)
class DkimKey:
    """A key of a project's domain, without its private key."""

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
    checked_at: datetime | None = None
    """Time of the newest check of its domain; None: no key signs for it, or not checked yet."""
    dkim: str | None = None
    spf: str | None = None
    dmarc: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "algorithm", Algorithm(self.algorithm))
        object.__setattr__(self, "status", DkimKeyStatus(self.status))

    @property
    def name(self) -> str:
        """Return the name of its TXT record."""
        return record_name(self.selector, self.domain)

    @property
    def text(self) -> str:
        """Return the text its TXT record must have; p= is empty if the key is revoked."""
        is_revoked = self.status is DkimKeyStatus.REVOKED
        return record_text(self.algorithm, "" if is_revoked else self.public_key)

    @property
    def records(self) -> DomainRecords | None:
        """Return the states of its domain's records in the newest check."""
        if self.checked_at is None:
            return None
        states = (None if each is None else FindingStatus(each) for each in self._states)
        return DomainRecords(self.checked_at, *states)

    @property
    def _states(self) -> tuple[str | None, ...]:
        return self.dkim, self.spf, self.dmarc


@dataclass(frozen=True, slots=True)
class ActiveKey:
    """An active key, as stored in the database."""

    id: UUID
    domain: str
    selector: str
    algorithm: str
    private_key: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class DomainCheck:
    """The stored findings of a check of a domain."""

    domain: str
    checked_at: datetime
    is_good: bool
    findings: tuple[DomainFinding, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "findings", tuple(map(_finding, self.findings)))


def _finding(stored: Mapping[str, Any] | DomainFinding) -> DomainFinding:
    if isinstance(stored, DomainFinding):
        return stored
    return DomainFinding(
        topic=stored["topic"],
        status=FindingStatus(stored["status"]),
        says=stored["says"],
        found=tuple(stored["found"]),
        publish=tuple(DnsRecord(**each) for each in stored["publish"]),
    )
