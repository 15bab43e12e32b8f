"""Prepares a group: builds its messages while it is marked, settles those that may not be sent."""

import asyncio
import os
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial

from mailqueue.core.crashpoints import reach
from mailqueue.mail.message.build import (
    CannotCompose,
    NotSigned,
    NotYet,
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
from mailqueue.mail.send.large import LARGE_BYTES, SHORT_BYTES, rendered_here, size_of
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
    has_files: bool = False,
) -> Sequence[SendAttempt]:
    """Mark emails that hold slots and build their messages meanwhile; return those to send.

    Emails that may not be sent are settled. On failure all of them go back to the queue.
    """
    held = len(group)
    try:
        reach("slots.taken")
        if has_files:
            group = await context.attachments.fetched(group)
        built: list[SendAttempt | SendOutcome] = []
        if context.is_alone:  # before its mark: certainly not sent
            built = build_attempts(group, account=account, context=context)
        marking = context.settler.mark([mail.claim for mail in group], slots)
        held = 0  # each slot is freed with its email
        for _ in range(2):  # the settler sends its statement; build while the database works
            await asyncio.sleep(0)
        sizes = [size_of(mail) for mail in group]
        if not built and max(sizes, default=0) >= LARGE_BYTES:
            built = [await _built(mail, account=account, context=context) for mail in group]
        elif not built and sum(sizes) >= SHORT_BYTES:
            for mail in group:
                await context.turns.share()
                built += build_attempts([mail], account=account, context=context)
        built = built or build_attempts(group, account=account, context=context)
        marks = await marking
        reach("mark.read")
        if marks.named or marks.are_lost:
            built = await _checked(group, built, marks, account=account, context=context)
        attempts = []
        for made in built:
            if isinstance(made, SendAttempt):
                attempts.append(made)
            else:
                context.settler.settle(made)
        return attempts
    except Exception as exc:  # one bad row must not stop a worker
        log.exception("group.failed", sender_account=account.id)
        context.slots.give_back(held, slots)
        for mail in group:
            deferred = unsent(mail, Ending.DEFER, f"{type(exc).__name__} before sending")
            context.settler.settle(deferred._replace(wait=RETURN_WAIT))
        return ()


def build_attempts(
    group: Sequence[LoadedEmail],
    *,
    account: SendAccount,
    context: SendContext,
    suppressed: tuple[str, ...] = (),
    in_thread: bool = False,
) -> list[SendAttempt | SendOutcome]:
    """Build each email's message; an email that cannot be built has its outcome instead."""
    skeleton_cache = context.large_builds.skeleton_cache if in_thread else context.skeleton_cache
    begun = None if in_thread else context.settler.begun
    stages = context.settler.stages
    now = datetime.now(UTC)
    built: list[SendAttempt | SendOutcome] = []
    for mail in group:
        if begun is not None:
            begun.step(mail.claim)
        began_at = time.monotonic()
        try:
            made: SendAttempt | SendOutcome = build_message(
                mail,
                skeleton_cache,
                identity=account.identity,
                now=now,
                suppressed=suppressed,
                signers=account.signers,
                returns=account.returns,
            )
        except NotYet as exc:
            made = unsent(mail, Ending.DEFER, str(exc))._replace(wait=FILE_WAIT)
        except NotSigned as exc:
            made = unsent(mail, Ending.DEFER, str(exc))._replace(wait=UNSIGNED_WAIT)
        except CannotCompose as exc:
            made = unsent(mail, Ending.FAILED, str(exc), log=LogStatus.FAILED)
        except MemoryError:
            if context.is_alone:  # elsewhere other emails may have taken the memory
                os._exit(EXIT_OUT_OF_MEMORY)
            log.exception("message.build_failed", email_id=str(mail.claim.id))
            reason = "MemoryError while composing"
            made = unsent(mail, Ending.RETRY, reason, log=LogStatus.DEFERRED)
        except Exception as exc:  # one bad row must not stop a worker
            log.exception("message.build_failed", email_id=str(mail.claim.id))
            reason = f"{type(exc).__name__} while composing"
            made = unsent(mail, Ending.FAILED, reason, log=LogStatus.FAILED)
        if stages is not None:
            stages.composed(mail.claim, began_at)
        built.append(made)
    if begun is not None:
        begun.step(None)
    return built


def unsent(
    mail: LoadedEmail, ending: Ending, reason: str | None, *, log: LogStatus | None = None
) -> SendOutcome:
    """Return the outcome of an email that was not handed to a transport."""
    claim = mail.claim
    return SendOutcome(id=claim.id, claim_no=claim.claim_no, ending=ending, reason=reason, log=log)


async def _checked(
    group: Sequence[LoadedEmail],
    built: Sequence[SendAttempt | SendOutcome],
    marks: Marks,
    *,
    account: SendAccount,
    context: SendContext,
) -> list[SendAttempt | SendOutcome]:
    """Return what the marks left of a group; an email that is no longer this worker's is left out.

    The message of an email some of whose recipients were suppressed is built again.
    """
    left: list[SendAttempt | SendOutcome] = []
    for mail, made in zip(group, built, strict=True):
        mark = marks.of(mail.claim.id)
        if mark.verdict is not MarkVerdict.GO:
            stopped = _stopped(mail, mark)
            if stopped is None:
                context.settler.forget(mail.claim.id, mail.claim.claim_no)
            else:
                left.append(stopped)
        elif mark.stopped:
            left.append(await _built(mail, mark.stopped, account=account, context=context))
        else:
            left.append(made)
    return left


async def _built(
    mail: LoadedEmail,
    suppressed: tuple[str, ...] = (),
    *,
    account: SendAccount,
    context: SendContext,
) -> SendAttempt | SendOutcome:
    """Build the message of one email, in a thread if it is large."""
    if context.is_alone or size_of(mail) < LARGE_BYTES:
        [made] = build_attempts([mail], account=account, context=context, suppressed=suppressed)
        return made
    context.settler.begun.begin(mail.claim)
    build = partial(
        build_attempts,
        [rendered_here(mail)],
        account=account,
        context=context,
        suppressed=suppressed,
        in_thread=True,
    )
    project_id, email_id = mail.claim.project_id, mail.claim.id
    [made] = await context.large_builds.run(build, project_id=project_id, email_id=email_id)
    return made


def _stopped(mail: LoadedEmail, mark: Mark) -> SendOutcome | None:
    """Return the outcome of an email that its mark stopped; None if it is another worker's."""
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
            return None
