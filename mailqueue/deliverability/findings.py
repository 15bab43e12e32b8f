"""What a check of a domain finds. Values only."""

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """How a thing stands, best first."""

    PASS = "pass"  # noqa: S105
    WARN = "warn"  # mail gets through; something should be better
    FAIL = "fail"
    UNKNOWN = "unknown"  # nobody answered


@dataclass(frozen=True, slots=True)
class Publish:
    """A record that should stand in DNS."""

    name: str
    type: str
    value: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: how it stands, in words, what was found, what should be."""

    topic: str
    status: Status
    says: str
    found: tuple[str, ...] = ()
    publish: tuple[Publish, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """All that was found about a domain."""

    project: str
    domain: str
    findings: tuple[Finding, ...]

    @property
    def is_good(self) -> bool:
        """Say that nothing failed and everything was answered."""
        return not any(each.status in (Status.FAIL, Status.UNKNOWN) for each in self.findings)
