"""Accepts the messages of submission clients, and chooses the replies."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from mailqueue.core.address import InvalidAddress, parse_address
from mailqueue.core.errors import (
    InvalidField,
    MailqueueError,
    ProjectFull,
    Refusal,
    StorageFull,
    TooManyRequests,
    Unauthorized,
    Unavailable,
)
from mailqueue.core.project_turns import ProjectTurns
from mailqueue.mail.accept.intake import Intake
from mailqueue.mail.accept.mode import with_test_mode
from mailqueue.mail.accept.raw import PreparedRaw, RawEmail, prepared
from mailqueue.mime.rawhead import is_dear
from mailqueue.projects.model import Caller
from mailqueue.projects.rate_limit.limiter import RateLimiter
from mailqueue.smtp.server.answer import CLOSING, SmtpReply
from mailqueue.smtp.server.handler import ReceivedEnvelope
from mailqueue.submission.model import SubmissionClient
from mailqueue.telemetry.log import get_logger

LARGE_BYTES = 256 * 1024
"""Bytes of a message above which it is processed in a thread, and so is one that is dear."""
READERS = 2
"""Messages that are processed in threads at the same time; one project has at most half of them."""
MAX_WAIT_SECONDS = 60.0
"""Seconds for which a message waits for the rate limit before its client is told to retry."""
MAX_WAITS = 10
"""Times that a client may retry at once after being told to wait; then the connection closes."""

UNAVAILABLE = SmtpReply(451, "4.3.0", "mail cannot be accepted now, try again later")
STORAGE_FULL = SmtpReply(452, "4.3.1", "storage is full, try again later")
LOGGED_OUT = SmtpReply(CLOSING, "4.7.0", "the API key is no longer valid, log in again")
_CODES: Mapping[str, tuple[int, str]] = {
    "attachments": (554, "5.6.1"),
    "From": (550, "5.7.1"),
    "from_email": (550, "5.7.1"),
    "from_name": (550, "5.6.0"),
    "message": (554, "5.6.0"),
    "to": (550, "5.1.3"),
    "cc": (550, "5.1.3"),
    "bcc": (550, "5.1.3"),
    "recipient": (550, "5.1.3"),
    "recipient_email": (550, "5.1.3"),
    "project": (550, "5.7.1"),
}
_BY_REFUSAL: Mapping[Refusal, tuple[int, str]] = {
    Refusal.TOO_LARGE: (552, "5.3.4"),
    Refusal.MAIL_LOOP: (554, "5.4.6"),
}
_OTHERS = (554, "5.5.4")

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SubmissionHandler:
    """Passes messages of submission clients to the accept use case."""

    intake: Intake
    allowance: RateLimiter
    patience_s: float = MAX_WAIT_SECONDS
    # None is refused: as many wait as connections may have messages without a reply.
    turns: ProjectTurns = field(
        default_factory=lambda: ProjectTurns("be read", at_once=READERS, max_waiting=None)
    )

    def check_recipient(self, address: str) -> SmtpReply | None:
        """Refuse an address that no email can be sent to."""
        try:
            parse_address(address)
        except InvalidAddress as exc:
            return SmtpReply(553, "5.1.3", str(exc))
        return None

    async def accept(self, envelope: ReceivedEnvelope, raw: bytes) -> SmtpReply | None:
        """Accept one message; reply once it is committed."""
        program = envelope.client
        assert isinstance(program, SubmissionClient)  # the server requires a login
        try:
            await self._let_in(program.caller)
            email = await self._prepared(program.caller, envelope, raw)
            accepted = await self.intake.accept_message(program.caller, email)
        except TooManyRequests as exc:
            return _wait(program, exc)
        except InvalidField as exc:
            log.info("submission.refused", client=program.address, field=exc.field)
            return refusal(exc)
        except MailqueueError as exc:
            log.warning("submission.failed", client=program.address, error=str(exc))
            return trouble(exc)
        count = len(email.documents)
        of = f" and {count - 1} more" if count > 1 else ""
        return SmtpReply(250, "2.0.0", f"Ok: queued as {accepted.id}{of}")

    async def _prepared(
        self, caller: Caller, envelope: ReceivedEnvelope, raw: bytes
    ) -> PreparedRaw:
        """Return the message prepared for sending; one of a test key goes to the mail trap only."""
        email = RawEmail(
            raw,
            envelope.recipients,
            has_null_sender=not envelope.sender,
            options=_options(caller),
            is_once=True,
            by=f"key {caller.name}",
        )
        if len(raw) > LARGE_BYTES or is_dear(raw):
            async with self.turns.turn(caller.project_id):
                return await asyncio.to_thread(prepared, email)
        return prepared(email)

    async def _let_in(self, caller: Caller) -> None:
        """Wait for the rate limits of the project and the key.

        Raises:
            TooManyRequests: the wait would be too long.
        """
        until = time.monotonic() + self.patience_s
        for bucket, rate, what in (
            (caller.project_bucket, caller.project_requests_per_second, "the keys of a project"),
            (caller.id, caller.requests_per_second, "this key"),
        ):
            while rate is not None:
                try:
                    await self.allowance.take(bucket, rate, what=what)
                    break
                except TooManyRequests as exc:
                    wait = max(0.01, exc.retry_after.total_seconds())
                    if time.monotonic() + wait > until:
                        raise
                await asyncio.sleep(wait)


def refusal(exc: InvalidField) -> SmtpReply:
    """Return the permanent refusal of an invalid message. Pure."""
    of_field = _CODES.get(exc.field, _OTHERS)
    code, enhanced = of_field if exc.refusal is None else _BY_REFUSAL.get(exc.refusal, of_field)
    return SmtpReply(code, enhanced, str(exc)[:300])


def trouble(exc: MailqueueError) -> SmtpReply:
    """Return the reply for a temporary fault. Pure."""
    match exc:
        case StorageFull():
            return STORAGE_FULL
        case ProjectFull():
            return SmtpReply(452, "4.2.2", str(exc)[:300])
        case Unavailable():
            return UNAVAILABLE
        case Unauthorized():
            return LOGGED_OUT
        case _:
            return SmtpReply(550, "5.7.1", str(exc)[:300])


def _wait(program: SubmissionClient, exc: TooManyRequests) -> SmtpReply:
    program.told_to_wait += 1
    seconds = max(1, round(exc.retry_after.total_seconds()))
    code = CLOSING if program.told_to_wait > MAX_WAITS else 450
    return SmtpReply(code, "4.7.0", f"too many messages, try again in {seconds} s")


def _options(caller: Caller) -> dict[str, object]:
    options = with_test_mode(caller, {})
    # Named, so that a message that names another sender account is refused.
    return options | {"sender": caller.trap_sender} if caller.is_test else options
