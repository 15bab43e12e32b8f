"""Prepares a group: builds its messages while it is marked, settles those that may not be sent."""

import asyncio
import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial

from mailqueue.core.crashpoints import reach
from mailqueue.mail.message.attachments import carries_files
from mailqueue.mail.message.build import (
    CannotCompose,
    NotSigned,
    NotYet,
    SkeletonCache,
    build_message,
)
from mailqueue.mail.model import (
    Ending,
    LoadedEmail,
    LogStatus,
    Mark,
    Marks,
    MarkVerdict,
    SendOutcome,
)
from mailqueue.mail.send.concurrency import AccountSlots
from mailqueue.mail.send.context import SendAccount, SendContext
from mailqueue.mail.send.large import is_large, rendered_here
from mailqueue.ports.transport import SendAttempt
from mailqueue.queue.in_progress import EXIT_OUT_OF_MEMORY
from mailqueue.telemetry.log import get_logger

UNSIGNED_WAIT = timedelta(minutes=1)
"""Wait of an email that must be signed until its domain is checked for a key again."""
FILE_WAIT = timedelta(seconds=30)
"""Wait of an email whose files could not be read until they are read again."""

RETURN_WAIT = timedelta(seconds=1)
"""Wait of emails that go back to the queue because their account cannot send now."""

UNKNOWN_EXPIRED = (
    "outcome_unknown: it was handed over without an answer, "
    "and expired before it could be sent again"
)

log = get_logger(__name__)


async def prepare(
    group: Sequence[LoadedEmail],
    slots: AccountSlots,
    *,
    account: SendAccount,
    context: SendContext,
) -> Sequence[SendAttempt]:
    """Mark emails that hold slots and build their messages meanwhile; return those to send.

    On failure all of them go back to the queue.
    """
    held = len(group)
    try:
        reach("slots.taken")
        if any(map(carries_files, group)):
            group = await context.attachments.fetched(group)
        build = partial(build_attempts, group, account=account, context=context)
        early = build() if context.is_alone else None  # before its mark: certainly not sent
        has_large = early is None and any(map(is_large, group))
        marking = context.settler.mark([mail.claim for mail in group], slots)
        held = 0  # each slot is freed with its email
        for _ in range(2):  # the settler sends its statement; build while the database works
            await asyncio.sleep(0)
        if has_large:
            built = [await _built(mail, account=account, context=context) for mail in group]
        else:
            built = early or build()
        marks = await marking
        reach("mark.read")
        if any(mark.stopped for mark in marks.named.values()):
            built = [
                await _built(mail, stopped, account=account, context=context)
                if (stopped := marks.of(mail.claim.id).stopped)
                else first
                for mail, first in zip(group, built, strict=True)
            ]
        return attempts_to_send(group, built, marks, context=context)
    except Exception as exc:  # one bad row must not stop a worker
        log.exception("group.failed", sender_account=account.id)
        context.slots.give_back(held, slots)
        for mail in group:
            deferred = unsent(mail, Ending.DEFER, f"{type(exc).__name__} before sending")
            context.settler.settle(deferred._replace(wait=RETURN_WAIT))
        return ()


def build_attempts(
    group: Sequence[LoadedEmail], *, account: SendAccount, context: SendContext
) -> list[SendAttempt | SendOutcome]:
    """Build each email's message; an email that cannot be built has its outcome instead."""
    now = datetime.now(UTC)
    return [_build(mail, (), account=account, context=context, now=now) for mail in group]


def attempts_to_send(
    group: Sequence[LoadedEmail],
    built: Sequence[SendAttempt | SendOutcome],
    marks: Marks,
    *,
    context: SendContext,
) -> list[SendAttempt]:
    """Return the attempts that may be sent; settle every other email, or forget a lost one."""
    attempts = []
    is_plain = not marks.named and not marks.are_lost
    for mail, first in zip(group, built, strict=True):
        made = first if is_plain else _checked(mail, first, marks, context)
        if isinstance(made, SendAttempt):
            attempts.append(made)
        elif made is not None:
            context.settler.settle(made)
    return attempts


def unsent(
    mail: LoadedEmail, ending: Ending, reason: str | None, *, log: LogStatus | None = None
) -> SendOutcome:
    """Return the outcome of an email that was not handed to a transport."""
    claim = mail.claim
    return SendOutcome(id=claim.id, claim_no=claim.claim_no, ending=ending, reason=reason, log=log)


def _checked(
    mail: LoadedEmail,
    built: SendAttempt | SendOutcome,
    marks: Marks,
    context: SendContext,
) -> SendAttempt | SendOutcome | None:
    """Apply the mark of one email; None if the email is no longer this worker's."""
    mark = marks.of(mail.claim.id)
    return built if mark.verdict is MarkVerdict.GO else _stopped(mail, mark, context)


async def _built(
    mail: LoadedEmail,
    suppressed: tuple[str, ...] = (),
    *,
    account: SendAccount,
    context: SendContext,
) -> SendAttempt | SendOutcome:
    """Build the message of one email, in a thread if it is large."""
    now = datetime.now(UTC)
    if context.is_alone or not is_large(mail):
        return _build(mail, suppressed, account=account, context=context, now=now)
    context.settler.begun.begin(mail.claim)
    large = context.large_builds
    build = partial(
        _outcome_of_build,
        rendered_here(mail),
        large.skeleton_cache,
        account=account,
        suppressed=suppressed,
        now=now,
    )
    return await large.run(build, email_id=str(mail.claim.id))


def _build(
    mail: LoadedEmail,
    suppressed: tuple[str, ...],
    *,
    account: SendAccount,
    context: SendContext,
    now: datetime,
) -> SendAttempt | SendOutcome:
    begun = context.settler.begun
    begun.begin_step(mail.claim)
    try:
        return _outcome_of_build(
            mail,
            context.skeleton_cache,
            account=account,
            suppressed=suppressed,
            now=now,
            is_alone=context.is_alone,
        )
    finally:
        begun.end_step()


def _outcome_of_build(
    mail: LoadedEmail,
    skeleton_cache: SkeletonCache,
    *,
    account: SendAccount,
    suppressed: tuple[str, ...],
    now: datetime,
    is_alone: bool = False,
) -> SendAttempt | SendOutcome:
    try:
        return build_message(
            mail,
            skeleton_cache,
            identity=account.identity,
            now=now,
            suppressed=suppressed,
            signers=account.signers,
            returns=account.returns,
        )
    except NotYet as exc:
        return unsent(mail, Ending.DEFER, str(exc))._replace(wait=FILE_WAIT)
    except NotSigned as exc:
        return unsent(mail, Ending.DEFER, str(exc))._replace(wait=UNSIGNED_WAIT)
    except CannotCompose as exc:
        reason = str(exc)
    except MemoryError:
        if is_alone:  # elsewhere other emails may have taken the memory
            os._exit(EXIT_OUT_OF_MEMORY)
        log.exception("message.build_failed", email_id=str(mail.claim.id))
        return unsent(mail, Ending.RETRY, "MemoryError while composing", log=LogStatus.DEFERRED)
    except Exception as exc:  # one bad row must not stop a worker
        log.exception("message.build_failed", email_id=str(mail.claim.id))
        reason = f"{type(exc).__name__} while composing"
    return unsent(mail, Ending.FAILED, reason, log=LogStatus.FAILED)


def _stopped(mail: LoadedEmail, mark: Mark, context: SendContext) -> SendOutcome | None:
    """Return the outcome of an email that its mark stopped; None if the email was lost."""
    match mark.verdict:
        case MarkVerdict.CANCELLED:
            return unsent(mail, Ending.CANCELLED, "cancelled")
        case MarkVerdict.EXPIRED if mail.claim.unknowns:
            return unsent(mail, Ending.EXPIRED, UNKNOWN_EXPIRED)
        case MarkVerdict.EXPIRED:
            return unsent(mail, Ending.EXPIRED, "it expired before it could be sent")
        case MarkVerdict.SUPPRESSED:
            return unsent(mail, Ending.SUPPRESSED, mark.reason)
        case MarkVerdict.PAUSED:
            return unsent(mail, Ending.DEFER, None)  # back to its lane, which is paused
        case MarkVerdict.LOST | MarkVerdict.GO:
            context.settler.forget(mail.claim.id, mail.claim.claim_no)
            return None
