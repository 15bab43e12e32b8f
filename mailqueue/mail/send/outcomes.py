"""Decides the outcome of an email from its transport's verdict. Pure."""

from collections.abc import Sequence
from datetime import timedelta
from typing import assert_never

from mailqueue.core.conversation import document_of
from mailqueue.core.verdict import (
    Accepted,
    AllRefused,
    Fault,
    Refused,
    Rejected,
    Stage,
    Verdict,
    conversation_of,
)
from mailqueue.mail.model import Ending, LogStatus, RecipientOutcome, SendOutcome
from mailqueue.ports.transport import SendAttempt

LIMIT_WAIT = timedelta(seconds=1)
"""Wait of an email that met a limit: its account rests by then, and another may not."""
RESEND_WAIT = timedelta(minutes=5)
"""Wait before the one resend of an email of unknown outcome, for a bounce or event to arrive."""
MAX_POLICY_ATTEMPTS = 5
"""Attempts after which a permanent refusal of our account or our servers ends the email."""
SOFT_BOUNCES = frozenset(("4.2.2", "5.2.1", "5.2.2"))
"""Enhanced codes of a mailbox that is full or disabled for now; retried days apart."""


def outcome_of(attempt: SendAttempt, verdict: Verdict, took_ms: int) -> SendOutcome:
    """Return the outcome to write for this verdict.

    A retry waits as the project's retry schedule says, and at least for its `wait`.
    """
    if isinstance(verdict, Rejected):
        done = _rejected(attempt, verdict, took_ms)
    elif isinstance(verdict, AllRefused):
        done = _all_refused(attempt, verdict, took_ms)
    else:
        sent: Sequence[str] = attempt.addresses
        if verdict.refused:
            refused = {one.address for one in verdict.refused}
            sent = [address for address in attempt.addresses if address not in refused]
        done = SendOutcome(
            id=attempt.email_id,
            claim_no=attempt.claim_no,
            ending=Ending.SENT,
            message_id=attempt.message_id,
            response_ms=took_ms,
            spent=len(sent),
            log=LogStatus.SENT,
            provider_message_id=verdict.provider_message_id,
            code=verdict.code or None,
            enhanced=verdict.enhanced or None,
            reply=verdict.reply,
            recipients=_each(attempt, sent, verdict.refused) if attempt.has_several else (),
        )
        if verdict.refused:
            done = _partly_accepted(done, verdict)
    if done.log is not None and (record := conversation_of(verdict)) is not None:
        done = done._replace(conversation=document_of(record))
    if not attempt.suppressed:
        return done
    suppressed = [
        RecipientOutcome(address, "suppressed", None, None, hard=False)
        for address in attempt.suppressed
    ]
    return done._replace(recipients=(*done.recipients, *suppressed))


def outcomes_of_fault(
    attempts: Sequence[SendAttempt], fault: Exception, *, is_handed_over: bool
) -> list[SendOutcome]:
    """Return the outcomes of emails without a verdict whose transport raised an exception.

    `is_handed_over`: the server may have received them. Else the first is at fault and is retried
    as its project's retry schedule says, and the others go back to the queue.
    """
    why = f"{type(fault).__name__} while sending"
    if is_handed_over:
        doubt = Rejected(Fault.AMBIGUOUS, "", why, Stage.DOT)
        return [outcome_of(attempt, doubt, 0) for attempt in attempts]
    at_fault = Rejected(Fault.UNRECOGNIZED, "", why, Stage.CONNECT)
    beside = Rejected(Fault.TRANSIENT, "", f"{why} another email", Stage.CONNECT)
    others = [outcome_of(attempt, beside, 0)._replace(wait=LIMIT_WAIT) for attempt in attempts[1:]]
    return [*(outcome_of(attempt, at_fault, 0) for attempt in attempts[:1]), *others]


def _partly_accepted(done: SendOutcome, verdict: Accepted) -> SendOutcome:
    """Return the outcome of an email that is sent again to some of the refused recipients."""
    later = [one for one in verdict.refused if _is_for_now(one.why)]
    if not later:
        return done
    why = later[0].why
    is_limit = limit_of(verdict) is not None
    return done._replace(
        ending=Ending.DEFER if is_limit else Ending.RETRY,
        reason=f"{later[0].address}: {why.detail}",
        wait=LIMIT_WAIT if is_limit else why.retry_after,
        left=len(later),
    )


def _all_refused(attempt: SendAttempt, verdict: AllRefused, took_ms: int) -> SendOutcome:
    later = [one for one in verdict.refused if _is_for_now(one.why)]
    # The one that is retried soonest decides when.
    worst = min(later or verdict.refused, key=lambda one: _is_soft(one.why))
    single = _rejected(attempt, worst.why, took_ms)
    is_limit = limit_of(verdict) is not None
    again = Ending.DEFER if is_limit else Ending.RETRY
    wait = LIMIT_WAIT if is_limit else worst.why.retry_after
    return single._replace(
        ending=again if later else Ending.FAILED,
        wait=wait if later else None,
        left=len(later) or None,
        reason=f"{worst.address}: {worst.why.detail}",
        hard=False,  # each recipient carries its own evidence
        recipients=_each(attempt, [], verdict.refused),
    )


def _rejected(attempt: SendAttempt, why: Rejected, took_ms: int) -> SendOutcome:
    base = SendOutcome(
        id=attempt.email_id,
        claim_no=attempt.claim_no,
        ending=Ending.RETRY,
        message_id=attempt.message_id,
        response_ms=took_ms,
        reason=why.detail,
        wait=why.retry_after,
        log=LogStatus.DEFERRED,
        code=why.code or None,
        enhanced=why.enhanced or None,
        reply=why.detail,
    )
    match why.kind:
        case Fault.TRANSIENT if why.stage is Stage.CONNECT:
            # The account failed, not the email: no attempt is counted.
            return base._replace(ending=Ending.DEFER, log=None, wait=None)
        case Fault.TRANSIENT | Fault.PERMANENT_RECIPIENT if _is_soft(why):
            return base._replace(log=LogStatus.BOUNCED)
        case Fault.TRANSIENT:
            return base
        case Fault.RATE_LIMITED:
            return base._replace(ending=Ending.DEFER, wait=LIMIT_WAIT)
        case Fault.UNRECOGNIZED:  # counted, and retried to the end of the schedule
            return base
        case Fault.AMBIGUOUS:
            return base._replace(
                ending=Ending.UNKNOWN,
                log=LogStatus.UNKNOWN,
                wait=RESEND_WAIT,
                spent=len(attempt.addresses),
            )
        case Fault.PERMANENT_RECIPIENT:
            return base._replace(
                ending=Ending.FAILED, log=LogStatus.BOUNCED, wait=None, hard=why.hard
            )
        case Fault.PERMANENT_MESSAGE:
            return base._replace(ending=Ending.FAILED, log=LogStatus.REJECTED, wait=None)
        case Fault.ACCOUNT if why.stage is Stage.CONNECT:
            return base._replace(ending=Ending.DEFER, log=None, wait=None)
        case Fault.ACCOUNT | Fault.INFRASTRUCTURE:
            if why.code.startswith("5") and attempt.number >= MAX_POLICY_ATTEMPTS:
                return base._replace(ending=Ending.FAILED, log=LogStatus.REJECTED, wait=None)
            return base
        case never:
            assert_never(never)


def limit_of(verdict: Verdict) -> Rejected | None:
    """Return the refusal that names a limit of the account, the email or one recipient."""
    if isinstance(verdict, Rejected):
        return verdict if verdict.kind is Fault.RATE_LIMITED else None
    found = (one.why for one in verdict.refused if one.why.kind is Fault.RATE_LIMITED)
    return next(found, None)


def halt_of(verdict: Verdict) -> Rejected | None:
    """Return the refusal after which the account rests, or is suspended until it is resumed."""
    if isinstance(verdict, Rejected):
        return verdict if verdict.stops else limit_of(verdict)
    stopping = (one.why for one in verdict.refused if one.why.stops)
    return next(stopping, None) or limit_of(verdict)


def account_failure_of(verdict: Verdict) -> Refused | None:
    """Return the first refusal that concerns the sender account or its server.

    None for refusals of a recipient or the message, and for failed connections, after which the
    account rests anyway.
    """
    if isinstance(verdict, Accepted):
        return None
    refused = verdict.refused if isinstance(verdict, AllRefused) else (Refused("", verdict),)
    return next((one for one in refused if _is_about_us(one.why)), None)


def _is_about_us(why: Rejected) -> bool:
    if why.stage is Stage.CONNECT:
        return False
    if why.kind is Fault.TRANSIENT:
        return why.stage is not Stage.RCPT and not _is_soft(why)
    return why.kind in (Fault.AMBIGUOUS, Fault.ACCOUNT, Fault.INFRASTRUCTURE, Fault.UNRECOGNIZED)


def _is_soft(why: Rejected) -> bool:
    if why.hard or why.kind not in (Fault.TRANSIENT, Fault.PERMANENT_RECIPIENT):
        return False
    is_bare = why.kind is Fault.PERMANENT_RECIPIENT and not why.enhanced and why.code == "552"
    return is_bare or why.enhanced in SOFT_BOUNCES


def _is_for_now(why: Rejected) -> bool:
    return _is_soft(why) or why.kind not in (Fault.PERMANENT_RECIPIENT, Fault.PERMANENT_MESSAGE)


def _each(
    attempt: SendAttempt, sent: Sequence[str], refused: tuple[Refused, ...]
) -> tuple[RecipientOutcome, ...]:
    if not attempt.has_several:
        return ()
    accepted = [RecipientOutcome(address, "sent", None, None, hard=False) for address in sent]
    failed = [
        RecipientOutcome(
            one.address, "failed", one.why.detail, one.why.enhanced or one.why.code, one.why.hard
        )
        for one in refused
        if not _is_for_now(one.why)
    ]
    return (*accepted, *failed)
