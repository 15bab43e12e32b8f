"""Times of what a worker does with emails whose spans are exported; of others nothing is kept."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from mailqueue.core.trace_context import is_sampled
from mailqueue.mail.model import ClaimedEmail, SendOutcome, SendStages


@dataclass(slots=True)
class _HeldStages:
    claimed: float
    composed: tuple[float, float] | None = None  # from and until


class StageClock:
    """The times of the emails that one worker holds, in seconds of the monotonic clock."""

    def __init__(self, ratio: float) -> None:
        """Prepare; `ratio` is that of emails without a context."""
        self._ratio = ratio
        self._held: dict[tuple[UUID, int], _HeldStages] = {}

    def claimed(self, emails: Iterable[ClaimedEmail]) -> None:
        """Note that emails were claimed."""
        now = time.monotonic()
        for email in emails:
            if is_sampled(email.id, email.custom_data, self._ratio):
                self._held[email.id, email.claim_no] = _HeldStages(now)

    def composed(self, email: ClaimedEmail, begun: float) -> None:
        """Note that an email's message was composed since `begun`."""
        if self._held and (held := self._held.get((email.id, email.claim_no))):
            held.composed = (begun, time.monotonic())

    def answered(self, outcome: SendOutcome) -> SendOutcome:
        """Return the outcome of an attempt with the times of its email, if they are kept."""
        if not self._held:
            return outcome
        held = self._held.pop((outcome.id, outcome.claim_no), None)
        if held is None or held.composed is None or outcome.log is None:
            return outcome
        return outcome._replace(stages=SendStages(held.claimed, *held.composed, time.monotonic()))

    def forget(self, email_id: UUID, claim_no: int) -> None:
        """Drop the times of an email that is no longer this worker's."""
        self._held.pop((email_id, claim_no), None)
