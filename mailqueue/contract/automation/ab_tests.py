"""A/B tests of mail."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from mailqueue.contract.value import Value


@dataclass(frozen=True, slots=True)
class AbTestVariant(Value):
    """A variant of a test, with the counts of its sample."""

    name: str
    share: int
    """Percent of the sample that gets it."""
    template_version_id: UUID | None
    """Version of the template; null: not of a template."""
    subject: str | None
    """Subject; null: that of the template."""
    accepted: int
    """Emails of the sample that were accepted."""
    sent: int
    """Emails of the sample that were sent: those that decided, or those of now."""
    opened: int
    """Of those, emails that people opened."""
    clicked: int
    """Of those, emails in which people clicked."""
    p_value: float | None
    """p-value of the difference from the first variant, corrected by Holm; null: not compared."""


@dataclass(frozen=True, slots=True)
class AbTestSummary(Value):
    """A test in a list."""

    id: UUID
    project: str
    name: str
    metric: str
    """What decides: `open_rate` or `click_rate`."""
    state: str
    """`created`, `running`, `sending` (to the others, after the decision), `completed`,
    `cancelling`, `cancelled` or `failed`.
    """
    result: str | None
    """`winner`, `no_difference`, `too_few` or `by_hand`; null: not decided."""
    winner: str | None
    """Name of the variant that has won; null: none."""
    is_test: bool
    created_at: datetime
    started_at: datetime | None
    """Time of the first recipient."""
    evaluates_at: datetime
    """Time of the evaluation; before the first recipient, that without one."""
    decided_at: datetime | None


@dataclass(frozen=True, slots=True)
class AbTest(Value):
    """A test of two to four variants of one mail."""

    id: UUID
    project: str
    name: str
    metric: str
    """What decides: `open_rate` or `click_rate`."""
    state: str
    """`created`, `running`, `sending` (to the others, after the decision), `completed`,
    `cancelling`, `cancelled` or `failed`.
    """
    result: str | None
    """`winner`, `no_difference`, `too_few` (emails were sent) or `by_hand`; null: not decided."""
    winner: str | None
    """Name of the variant that has won; null: none."""
    alpha: float
    """Highest p-value at which a difference is significant."""
    evaluate_after_hours: float
    """Hours from the first recipient to the evaluation."""
    min_sample: int
    """Emails that each variant must have sent; with fewer nothing is compared."""
    sample_percent: int
    """Percent of the recipients that are in the sample."""
    if_none: str
    """What the others get without a winner: `first` or `shares`."""
    variants: Sequence[AbTestVariant]
    recipients: int
    """Number of recipients."""
    waiting: int
    """Number of recipients that wait for the decision."""
    is_test: bool
    requested_by: str
    decided_by: str | None
    """Who decided by hand; null: the evaluation."""
    cancelled_by: str | None
    error: str | None
    created_at: datetime
    started_at: datetime | None
    """Time of the first recipient."""
    evaluates_at: datetime
    """Time of the evaluation; before the first recipient, that without one."""
    decided_at: datetime | None
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class AbTestRecipient(Value):
    """What became of one recipient of a test."""

    index: int
    """Place in the request, from 0."""
    id: UUID | None
    """Id of the email; null while there is none."""
    status: str
    """`queued`, `waiting` (for the decision), `duplicate`, `suppressed` or `rejected`."""
    reason: str | None
    variant: str | None
    """Name of the variant, of a recipient in the sample."""


@dataclass(frozen=True, slots=True)
class AbTestResults(Value):
    """What became of the recipients of a request."""

    results: Sequence[AbTestRecipient]
    """A row for each recipient, in order."""
