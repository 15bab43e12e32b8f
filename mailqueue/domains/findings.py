"""The findings of a domain check. Values only."""

from dataclasses import dataclass

from mailqueue.contract.domains import DomainFinding, FindingStatus


@dataclass(frozen=True, slots=True)
class DomainFindings:
    """All findings about a domain."""

    project: str
    domain: str
    findings: tuple[DomainFinding, ...]

    @property
    def is_good(self) -> bool:
        """Whether no check failed and every lookup was answered."""
        return not any(
            each.status in (FindingStatus.FAIL, FindingStatus.UNKNOWN) for each in self.findings
        )
