"""A domain: its DKIM keys, what DNS has, and the domain of links."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from mailqueue.contract.value import Value


class DkimKeyStatus(StrEnum):
    """State of a DKIM key."""

    PENDING = "pending"  # its record is not known to be in DNS
    ACTIVE = "active"  # it signs
    RETIRED = "retired"  # another signs; mail it signed may still be on the way
    REVOKED = "revoked"  # destroyed


class FindingStatus(StrEnum):
    """Result of one check, best first."""

    PASS = "pass"  # noqa: S105
    WARN = "warn"  # mail gets through; something should be better
    FAIL = "fail"
    UNKNOWN = "unknown"  # no name server answered


@dataclass(frozen=True, slots=True)
class DomainRecords(Value):
    """States of a domain's records in its newest check; it is checked once a day."""

    checked_at: datetime
    dkim: FindingStatus | None
    spf: FindingStatus | None
    dmarc: FindingStatus | None


@dataclass(frozen=True, slots=True)
class DkimKeyDetails(Value):
    """A DKIM key and the DNS record to publish for it."""

    id: UUID
    domain: str
    selector: str
    algorithm: str
    status: DkimKeyStatus
    verified: bool
    dns_name: str
    dns_type: str
    dns_txt_record: str
    """Value of the record as one string."""
    dns_strings: Sequence[str]
    """The same value in strings of at most 255 bytes."""
    zone_line: str
    """The record as a line of a zone file."""
    public_key: str
    created_at: datetime
    verified_at: datetime | None
    active_at: datetime | None
    retired_at: datetime | None
    needed_until: datetime | None
    """Time until which the record of a retired key must stay in DNS."""
    revoked_at: datetime | None
    domain_records: DomainRecords | None
    """Records of the domain in DNS; null while no key signs for it, and until its first check."""


@dataclass(frozen=True, slots=True)
class DkimKeyList(Value):
    """The DKIM keys of a project, oldest first."""

    data: Sequence[DkimKeyDetails]
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True)
class DkimVerification(Value):
    """The DNS record found for a key, and the key after the check."""

    in_dns: str
    found: Sequence[str]
    why: str | None
    key: DkimKeyDetails


@dataclass(frozen=True, slots=True)
class SigningRequirement(Value):
    """Whether emails of a project wait where no key signs for their domain."""

    project: str
    is_dkim_required: bool


@dataclass(frozen=True, slots=True)
class DnsRecord(Value):
    """A DNS record to publish."""

    name: str
    type: str
    value: str


@dataclass(frozen=True, slots=True)
class DomainFinding(Value):
    """One check of a domain: its result, what DNS has and what to publish."""

    topic: str
    status: FindingStatus
    says: str
    found: tuple[str, ...] = ()
    publish: tuple[DnsRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class DomainReport(Value):
    """What receiving servers find in the DNS of a domain."""

    domain: str
    is_good: bool
    findings: Sequence[DomainFinding]


@dataclass(frozen=True, slots=True)
class TrackingDomainCheck(Value):
    """The addresses of a tracking domain in DNS, and those of this installation."""

    domain: str
    leads_here: bool | None
    """Null where DNS did not answer."""
    says: str
    found: tuple[str, ...]
    """Addresses of the domain."""
    wanted: tuple[str, ...]
    """Addresses of this installation."""
    publish: str
    """DNS record that points the domain to this installation."""
    verified_at: datetime | None
    """Time since which links in emails use it."""


@dataclass(frozen=True, slots=True)
class TrackingDomainStatus(Value):
    """The domain of links in the project's emails."""

    links_begin_with: str | None
    """Null where no URL is configured, and links are not tracked."""
    domain: str | None
    verified_at: datetime | None


@dataclass(frozen=True, slots=True)
class TrackingKeyDates(Value):
    """When a key that signs links was created, retired and revoked."""

    id: str
    created_at: datetime
    retired_at: datetime | None
    """Since when another key signs new links; links that it signed work on."""
    revoked_at: datetime | None
    """Since when links that it signed do not work."""


@dataclass(frozen=True, slots=True)
class TrackingSetup(TrackingDomainStatus):
    """The domain of links, and the keys that sign them."""

    keys: Sequence[TrackingKeyDates]
    """Newest first."""
