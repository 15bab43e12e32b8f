"""What a check of a domain finds. Values only."""

from dataclasses import dataclass

from mailqueue.contract.domains import DomainFinding, FindingStatus


@dataclass(frozen=True, slots=True)
class Report:
    """All that was found about a domain."""

    project: str
    domain: str
    findings: tuple[DomainFinding, ...]

    @property
    def is_good(self) -> bool:
        """Whether nothing failed and every look-up was answered."""
        return not any(
            each.status in (FindingStatus.FAIL, FindingStatus.UNKNOWN) for each in self.findings
        )
