"""Sends one email while its caller waits, by a server that the caller names and nothing stores."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from mailqueue.core.address import parse_mailbox
from mailqueue.core.conversation import document_of, without_secrets
from mailqueue.core.secret import Secret
from mailqueue.core.verdict import (
    Accepted,
    AllRefused,
    Fault,
    Rejected,
    Stage,
    Verdict,
    conversation_of,
)
from mailqueue.db.fetch import Lend
from mailqueue.mail.accept.enqueue import NewEmail, message_of, unstorable
from mailqueue.mail.custom_smtp import store as custom_smtp_store
from mailqueue.mail.custom_smtp.store import StartedEmail
from mailqueue.mail.message.build import NotYet, SkeletonCache, build_message
from mailqueue.mail.message.tracking import EmailTracking, calling
from mailqueue.mail.model import (
    ClaimedEmail,
    EmailContent,
    EmailRecipient,
    Ending,
    LoadedEmail,
    LogStatus,
    RecipientOutcome,
    SendOutcome,
)
from mailqueue.mail.send.outcomes import limit_of, outcome_of
from mailqueue.ports.transport import SendAttempt, Transport
from mailqueue.senders.model import MailDefaults
from mailqueue.telemetry.log import get_logger

DEADLINE_SECONDS = 20.0
"""Limit from the mark to the last byte that a server could accept: less than the time after which
a rescue counts the outcome as unknown.
"""

RETRY_WAIT = timedelta(minutes=1)
"""Wait of an email whose server or files are unavailable."""

log = get_logger(__name__)

Fetch = Callable[[LoadedEmail], Awaitable[LoadedEmail]]
"""Returns an email with its files."""


@dataclass(frozen=True, slots=True)
class SentNow:
    """The result: sent, failed, held (outcome unknown), suppressed or duplicate."""

    id: UUID
    status: str
    reason: str | None = None


async def send_now(
    lend: Lend,
    email: NewEmail,
    *,
    project: str,
    transport: Transport,
    hidden: Sequence[Secret] = (),
    fetch: Fetch | None = None,
    tracking: EmailTracking | None = None,
    deadline_s: float = DEADLINE_SECONDS,
) -> SentNow:
    """Accept one email, send it once, and return its result.

    `lend` yields a connection outside any transaction; none is held while the server is used.
    `hidden` are texts redacted in everything recorded; `fetch` loads the files. A call that is
    cancelled leaves an email of unknown outcome, which is held later.

    Raises:
        InvalidField: nothing is stored.
        LimitReached: the project has no headroom now.
        Conflict: the project is paused or locked, or sends signed mail only.
    """
    fault = unstorable(email)
    if fault is not None:
        raise fault
    end = time.monotonic() + deadline_s
    async with lend() as conn:
        begun, several = await custom_smtp_store.begin(conn, project, message_of(email))
    if begun.worker_id is None:
        return SentNow(begun.id, begun.state, begun.reason)
    mail = _loaded(begun, several)
    if tracking is not None:
        (mail,) = await tracking.inject([mail], calling(lend))
    if fetch is not None and begun.files is not None:
        mail = await fetch(mail)
    done = await send_marked(mail, transport, hidden=hidden, end=end, is_tried_again=False)
    async with lend() as conn:
        await custom_smtp_store.settle(conn, begun.worker_id, done)
    status = "held" if done.ending is Ending.UNKNOWN else done.ending
    return SentNow(begun.id, str(status), done.reason)


async def send_marked(
    mail: LoadedEmail,
    transport: Transport,
    *,
    hidden: Sequence[Secret],
    end: float,
    is_tried_again: bool,
) -> SendOutcome:
    """Send one marked email until `end` of the monotonic clock; return its outcome.

    With `is_tried_again` a temporary failure is retried; else the email fails.
    """
    try:
        attempt = _build(mail)
    except NotYet as exc:
        if is_tried_again:
            return _unsent(mail, Ending.DEFER, str(exc))._replace(wait=RETRY_WAIT)
        return _unsent(mail, Ending.FAILED, f"cannot compose: {exc}")
    except ValueError as exc:  # an address among them
        return _unsent(mail, Ending.FAILED, f"cannot compose: {exc}")
    except Exception as exc:  # nothing was handed over
        log.exception("message.build_failed", email_id=str(mail.claim.id))
        return _unsent(mail, Ending.FAILED, f"{type(exc).__name__} while composing")
    verdict, took_ms = await _verdict(attempt, transport, end=end)
    done = outcome_of(attempt, verdict, took_ms)
    if (limit := limit_of(verdict)) is not None:  # there is no account to rest
        done = done._replace(wait=limit.retry_after or RETRY_WAIT)
    is_refusal = isinstance(verdict, Rejected) and verdict.kind is Fault.ACCOUNT
    if not is_tried_again or is_refusal:  # this account is stored nowhere: it cannot be corrected
        done = _once(attempt, verdict, done)
    return _without(hidden, done)


def _unsent(mail: LoadedEmail, ending: Ending, reason: str) -> SendOutcome:
    return SendOutcome(mail.claim.id, mail.claim.claim_no, ending, reason=reason)


async def _verdict(
    attempt: SendAttempt, transport: Transport, *, end: float
) -> tuple[Verdict, int]:
    """Send once; past `end` the outcome is unknown if the server may have received everything."""
    reports: list[tuple[Verdict, int]] = []
    asked: list[bool] = []

    def may_finish() -> bool:
        asked.append(time.monotonic() < end)
        return asked[-1]

    channel = None
    begun = time.monotonic()
    try:
        async with asyncio.timeout(end - time.monotonic()):
            channel = await transport.open()
            if isinstance(channel, Rejected):
                return channel, 0
            await channel.send(
                [attempt],
                lambda _, verdict, took_ms: reports.append((verdict, took_ms)),
                may_finish=may_finish,
            )
    except TimeoutError:
        if not reports:
            kind = Fault.AMBIGUOUS if any(asked) else Fault.TRANSIENT
            late = Rejected(kind, "", "no answer in time", Stage.DOT if any(asked) else Stage.DATA)
            reports.append((late, round((time.monotonic() - begun) * 1000)))
    except Exception as exc:
        if not reports:  # else the verdict counts
            log.exception("channel.failed", email_id=str(attempt.email_id))
            kind, stage = (
                (Fault.AMBIGUOUS, Stage.DOT) if any(asked) else (Fault.UNRECOGNIZED, Stage.CONNECT)
            )
            reports.append((Rejected(kind, "", f"{type(exc).__name__} while sending", stage), 0))
    finally:
        if channel is not None and not isinstance(channel, Rejected):
            await channel.close()
    [found] = reports
    return found


def _once(attempt: SendAttempt, verdict: Verdict, done: SendOutcome) -> SendOutcome:
    """Return the outcome of an email that is not retried: a retry becomes a failure. Pure."""
    if done.ending is Ending.UNKNOWN:
        return done._replace(wait=None)
    refused = verdict.refused if isinstance(verdict, Accepted | AllRefused) else ()
    settled = {one.address for one in done.recipients}
    later = [
        RecipientOutcome(one.address, "failed", one.why.detail, one.why.code or None, hard=False)
        for one in refused
        if attempt.has_several and one.address not in settled
    ]
    is_sent = isinstance(verdict, Accepted)
    log = LogStatus.SENT if is_sent else done.log or LogStatus.FAILED
    record = conversation_of(verdict)
    return done._replace(
        ending=Ending.SENT if is_sent else Ending.FAILED,
        conversation=None if record is None else document_of(record),
        wait=None,
        left=None,
        log=LogStatus.FAILED if log is LogStatus.DEFERRED else log,
        recipients=(*done.recipients, *later),
    )


def _build(mail: LoadedEmail) -> SendAttempt:
    content = mail.content
    if content is None or content.from_email is None:
        raise ValueError("its content, or its sender, is missing")
    identity = MailDefaults(parse_mailbox(content.from_email))
    return build_message(mail, SkeletonCache(), identity=identity, now=datetime.now(UTC))


def _loaded(begun: StartedEmail, several: Sequence[EmailRecipient]) -> LoadedEmail:
    now = datetime.now(UTC)
    email = ClaimedEmail(
        id=begun.id,
        claim_no=begun.claim_no or 0,
        assigned_to=0,
        account_revision=0,
        project_id=begun.project_id or begun.id,
        attempts=1,
        recipients=begun.recipients or 1,
        unknowns=0,
        expires_at=now,
        category=begun.category or "",
        recipient_email=begun.recipient_email or "",
        recipient_name=begun.recipient_name,
        custom_data=None,
        content_id=begun.content_id or 0,
        content_on=begun.content_on or now.date(),
    )
    content = EmailContent(
        id=email.content_id,
        subject=begun.subject or "",
        html_body=begun.html_body,
        text_body=begun.text_body,
        from_email=begun.from_email,
        from_name=begun.from_name,
        reply_to=begun.reply_to,
        headers=begun.headers,
        files=begun.files,
        tracking_options=begun.tracking_options,
    )
    return LoadedEmail(email, content, tuple(several))


def _without(hidden: Sequence[Secret], done: SendOutcome) -> SendOutcome:
    """Redact the caller's secrets in the server's replies."""

    def plain(text: str | None) -> str | None:
        for secret in hidden:
            if text is not None and secret:
                text = text.replace(secret.reveal(), "***")
        return text

    recipients = tuple(
        RecipientOutcome(one.address, one.status, plain(one.reason), one.code, one.hard)
        for one in done.recipients
    )
    record = done.conversation
    return done._replace(
        reason=plain(done.reason),
        reply=plain(done.reply),
        recipients=recipients,
        conversation=record and without_secrets(record, [one.reveal() for one in hidden if one]),
    )
