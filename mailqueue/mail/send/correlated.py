"""Log lines of emails that have correlation ids, so that a log is searched by them.

An email without such ids has no line of its own.
"""

import re
from collections.abc import Iterable
from uuid import UUID

from mailqueue.mail.correlation import correlation_of
from mailqueue.mail.model import ClaimedEmail, SendOutcome
from mailqueue.telemetry.log import get_logger, mask

_WORD = re.compile(r"[^\s<>(),;:\"']+")
MAX_ERROR_CHARACTERS = 300
"""Characters of an error that are logged."""

log = get_logger(__name__)


class CorrelationLog:
    """The correlation ids of the emails that one worker holds."""

    def __init__(self) -> None:
        self._held: dict[tuple[UUID, int], dict[str, str | int]] = {}

    def claimed(self, emails: Iterable[ClaimedEmail]) -> None:
        """Write that emails were claimed, and keep their ids until their outcomes."""
        for email in emails:
            if email.custom_data is not None and (ids := correlation_of(email.custom_data)):
                fields = ids | {"attempt": email.attempts}
                self._held[email.id, email.claim_no] = fields
                recipient = mask(email.recipient_email)
                log.info("email.claimed", email_id=str(email.id), recipient=recipient, **fields)

    def answered(self, outcome: SendOutcome) -> None:
        """Write the outcome of an email; it is in the log before it is in the database."""
        if self._held and (fields := self._held.pop((outcome.id, outcome.claim_no), None)):
            if outcome.reason is not None:
                fields = fields | {"error": _error_of(outcome.reason)}
            log.info(
                "email.outcome",
                email_id=str(outcome.id),
                outcome=str(outcome.ending),
                code=outcome.enhanced or outcome.code,
                response_ms=outcome.response_ms,
                **fields,
            )

    def forget(self, email_id: UUID, claim_no: int) -> None:
        """Drop the ids of an email that is no longer this worker's."""
        self._held.pop((email_id, claim_no), None)


def _error_of(reason: str) -> str:
    """Return a reason with the addresses in it masked, and cut."""
    masked = _WORD.sub(lambda found: mask(found[0]) if "@" in found[0] else found[0], reason)
    return masked[:MAX_ERROR_CHARACTERS]
