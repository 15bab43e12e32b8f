"""Decides what a transport's verdict does to the mail. Pure."""

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple, assert_never

from mailqueue.core.verdict import Accepted, AllRefused, Kind, Refused, Rejected, Stage, Verdict
from mailqueue.mail.model import ClaimedEmail, Ending, LogStatus, RecipientSettlement, Settlement

LIMIT_WAIT = timedelta(seconds=1)
"""A mail that met a limit looks again after this: its account rests by then, and others may not."""
RESEND_WAIT = timedelta(minutes=5)
"""Before the one resend of a mail whose fate is unknown: time for evidence to come in."""
MOST_POLICY_ATTEMPTS = 5
"""A permanent refusal that is about us may be mended, but not for days on end."""
SOFT_BOUNCES = frozenset(("4.2.2", "5.2.1", "5.2.2"))
"""Enhanced codes of a mailbox that is full, or disabled for now: worth another look, days apart."""


class Handed(NamedTuple):
    """A mail as it was handed over: its Message-ID and the envelope recipients."""

    email: ClaimedEmail
    message_id: str
    addresses: tuple[str, ...]
    had_several: bool  # recipients have outcomes of their own
    stopped: tuple[str, ...] = ()  # recipients suppressed by now, left out of the envelope


def settlement_of(handed: Handed, verdict: Verdict, took_ms: int) -> Settlement:
    """Return what to write for this verdict.

    A retry waits for as long as the ladder of its project says, and at least for its `wait`.
    """
    if isinstance(verdict, Accepted):
        done = _accepted(handed, verdict, took_ms)
    elif isinstance(verdict, Rejected):
        done = _rejected(handed, verdict, took_ms)
    else:
        done = _all_refused(handed, verdict, took_ms)
    if not handed.stopped:
        return done
    stopped = [
        RecipientSettlement(address, "suppressed", None, None, hard=False)
        for address in handed.stopped
    ]
    return done._replace(recipients=(*done.recipients, *stopped))


def _accepted(handed: Handed, verdict: Accepted, took_ms: int) -> Settlement:
    sent: Sequence[str] = handed.addresses
    later: Sequence[Refused] = ()
    if verdict.refused:
        refused = {one.address for one in verdict.refused}
        sent = [address for address in handed.addresses if address not in refused]
        later = [one for one in verdict.refused if _is_for_now(one.why)]
    base = Settlement(
        id=handed.email.id,
        claim_no=handed.email.claim_no,
        ending=Ending.SENT,
        message_id=handed.message_id,
        response_ms=took_ms,
        spent=len(sent),
        log=LogStatus.SENT,
        provider_message_id=verdict.provider_message_id,
        code=verdict.code or None,
        enhanced=verdict.enhanced or None,
        reply=verdict.reply,
        recipients=_each(handed, sent, verdict.refused),
    )
    if not later:
        return base
    why = later[0].why
    is_limit = limit_of(verdict) is not None
    return base._replace(
        ending=Ending.DEFER if is_limit else Ending.RETRY,
        reason=f"{later[0].address}: {why.detail}",
        wait=LIMIT_WAIT if is_limit else why.retry_after,
        left=len(later),
    )


def _all_refused(handed: Handed, verdict: AllRefused, took_ms: int) -> Settlement:
    later = [one for one in verdict.refused if _is_for_now(one.why)]
    # The one that comes back soonest says when.
    worst = min(later or verdict.refused, key=lambda one: _is_soft(one.why))
    single = _rejected(handed, worst.why, took_ms)
    is_limit = limit_of(verdict) is not None
    again = Ending.DEFER if is_limit else Ending.RETRY
    wait = LIMIT_WAIT if is_limit else worst.why.retry_after
    return single._replace(
        ending=again if later else Ending.FAILED,
        wait=wait if later else None,
        left=len(later) or None,
        reason=f"{worst.address}: {worst.why.detail}",
        hard=False,  # each recipient carries its own evidence
        recipients=_each(handed, [], verdict.refused),
    )


def _rejected(handed: Handed, why: Rejected, took_ms: int) -> Settlement:
    email = handed.email
    base = Settlement(
        id=email.id,
        claim_no=email.claim_no,
        ending=Ending.RETRY,
        message_id=handed.message_id,
        response_ms=took_ms,
        reason=why.detail,
        wait=why.retry_after,
        log=LogStatus.DEFERRED,
        code=why.code or None,
        enhanced=why.enhanced or None,
        reply=why.detail,
    )
    match why.kind:
        case Kind.TRANSIENT if why.stage is Stage.CONNECT:
            # The account's failure, not the mail's: nothing was tried, no attempt is spent.
            return base._replace(ending=Ending.DEFER, log=None, wait=None)
        case Kind.TRANSIENT | Kind.PERMANENT_RECIPIENT if _is_soft(why):
            return base._replace(log=LogStatus.BOUNCED)
        case Kind.TRANSIENT:
            return base
        case Kind.RATE_LIMITED:
            return base._replace(ending=Ending.DEFER, wait=LIMIT_WAIT)
        case Kind.UNRECOGNIZED:  # counted, and tried to the end of its ladder
            return base
        case Kind.AMBIGUOUS:
            return base._replace(
                ending=Ending.UNKNOWN,
                log=LogStatus.UNKNOWN,
                wait=RESEND_WAIT,
                spent=len(handed.addresses),
            )
        case Kind.PERMANENT_RECIPIENT:
            return base._replace(
                ending=Ending.FAILED, log=LogStatus.BOUNCED, wait=None, hard=why.hard
            )
        case Kind.PERMANENT_MESSAGE:
            return base._replace(ending=Ending.FAILED, log=LogStatus.REJECTED, wait=None)
        case Kind.ACCOUNT if why.stage is Stage.CONNECT:
            return base._replace(ending=Ending.DEFER, log=None, wait=None)
        case Kind.ACCOUNT | Kind.INFRASTRUCTURE:
            if why.code.startswith("5") and email.attempts >= MOST_POLICY_ATTEMPTS:
                return base._replace(ending=Ending.FAILED, log=LogStatus.REJECTED, wait=None)
            return base
        case never:
            assert_never(never)


def limit_of(verdict: Verdict) -> Rejected | None:
    """Return the refusal that names a limit of the account, of the mail or of one recipient."""
    if isinstance(verdict, Rejected):
        return verdict if verdict.kind is Kind.RATE_LIMITED else None
    found = (one.why for one in verdict.refused if one.why.kind is Kind.RATE_LIMITED)
    return next(found, None)


def halt_of(verdict: Verdict) -> Rejected | None:
    """Return the refusal after which the account sends nothing for now, or until it is resumed."""
    if isinstance(verdict, Rejected):
        return verdict if verdict.stops else limit_of(verdict)
    stopping = (one.why for one in verdict.refused if one.why.stops)
    return next(stopping, None) or limit_of(verdict)


def blame_of(verdict: Verdict) -> Refused | None:
    """Return the refusal, with its first address, that is about the sender account or its server.

    None for what concerns a recipient or the message, and for failed connections, which have a
    rest of their own.
    """
    if isinstance(verdict, Accepted):
        return None
    refused = verdict.refused if isinstance(verdict, AllRefused) else (Refused("", verdict),)
    return next((one for one in refused if _is_about_us(one.why)), None)


def _is_about_us(why: Rejected) -> bool:
    if why.stage is Stage.CONNECT:
        return False
    if why.kind is Kind.TRANSIENT:
        return why.stage is not Stage.RCPT and not _is_soft(why)
    return why.kind in (Kind.AMBIGUOUS, Kind.ACCOUNT, Kind.INFRASTRUCTURE, Kind.UNRECOGNIZED)


def _is_soft(why: Rejected) -> bool:
    if why.hard or why.kind not in (Kind.TRANSIENT, Kind.PERMANENT_RECIPIENT):
        return False
    is_bare = why.kind is Kind.PERMANENT_RECIPIENT and not why.enhanced and why.code == "552"
    return is_bare or why.enhanced in SOFT_BOUNCES


def _is_for_now(why: Rejected) -> bool:
    return _is_soft(why) or why.kind not in (Kind.PERMANENT_RECIPIENT, Kind.PERMANENT_MESSAGE)


def _each(
    handed: Handed, sent: Sequence[str], refused: tuple[Refused, ...]
) -> tuple[RecipientSettlement, ...]:
    if not handed.had_several:
        return ()
    accepted = [RecipientSettlement(address, "sent", None, None, hard=False) for address in sent]
    failed = [
        RecipientSettlement(
            one.address, "failed", one.why.detail, one.why.enhanced or one.why.code, one.why.hard
        )
        for one in refused
        if not _is_for_now(one.why)
    ]
    return (*accepted, *failed)
