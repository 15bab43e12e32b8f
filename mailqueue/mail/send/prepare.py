"""Decides which mails of a marked group are handed over: composes those, settles the others."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from mailqueue.mail.message.build import CannotCompose, Letter, NotSigned, NotYet, write_letter
from mailqueue.mail.model import (
    Ending,
    LogStatus,
    Mark,
    Marks,
    MarkVerdict,
    Parcel,
    Settlement,
)
from mailqueue.mail.send.context import Account, Desk
from mailqueue.telemetry.log import get_logger

UNSIGNED_WAIT = timedelta(minutes=1)
"""After so long mail that must be signed looks again whether its domain has a key."""
FILE_WAIT = timedelta(seconds=30)
"""After so long mail whose files were away looks for them again."""

UNKNOWN_EXPIRED = (
    "outcome_unknown: it was handed over without an answer, "
    "and expired before it could be sent again"
)

log = get_logger(__name__)


Draft = Letter | Settlement
"""What becomes of a mail that may go: a letter, or an outcome where it cannot be composed."""


def drafts_of(group: Sequence[Parcel], *, account: Account, desk: Desk) -> list[Draft]:
    """Compose mails while it is found out whether they may go."""
    now = datetime.now(UTC)
    return [_draft(parcel, (), account=account, desk=desk, now=now) for parcel in group]


def letters_of(
    group: Sequence[Parcel],
    drafts: Sequence[Draft],
    marks: Marks,
    *,
    account: Account,
    desk: Desk,
) -> list[Letter]:
    """Return the mails that may go; every other is settled, or forgotten when lost."""
    letters = []
    is_plain = not marks.named and not marks.are_lost
    for parcel, drafted in zip(group, drafts, strict=True):
        draft = drafted if is_plain else _after(parcel, drafted, marks, account=account, desk=desk)
        if isinstance(draft, Letter):
            letters.append(draft)
        elif draft is not None:
            desk.scribe.settle(draft)
    return letters


def unsent(
    parcel: Parcel, ending: Ending, reason: str | None, *, log: LogStatus | None = None
) -> Settlement:
    """Return what to write for a mail that was not handed over."""
    email = parcel.email
    return Settlement(id=email.id, claim_no=email.claim_no, ending=ending, reason=reason, log=log)


def _after(
    parcel: Parcel, draft: Draft, marks: Marks, *, account: Account, desk: Desk
) -> Draft | None:
    """Return what becomes of a mail after the last look at it."""
    mark = marks.of(parcel.email.id)
    if mark.verdict is not MarkVerdict.GO:
        return _stopped(parcel, mark, desk)
    if not mark.stopped:
        return draft
    return _draft(parcel, mark.stopped, account=account, desk=desk, now=datetime.now(UTC))


def _draft(
    parcel: Parcel, stopped: tuple[str, ...], *, account: Account, desk: Desk, now: datetime
) -> Draft:
    try:
        return write_letter(
            parcel,
            desk.skeletons,
            identity=account.identity,
            now=now,
            stopped=stopped,
            signers=account.signers,
            returns=account.returns,
        )
    except NotYet as exc:
        return unsent(parcel, Ending.DEFER, str(exc))._replace(wait=FILE_WAIT)
    except NotSigned as exc:
        return unsent(parcel, Ending.DEFER, str(exc))._replace(wait=UNSIGNED_WAIT)
    except CannotCompose as exc:
        reason = str(exc)
    except Exception as exc:  # one bad row must not stop a worker
        log.exception("letter.failed", email_id=str(parcel.email.id))
        reason = f"{type(exc).__name__} while composing"
    return unsent(parcel, Ending.FAILED, reason, log=LogStatus.FAILED)


def _stopped(parcel: Parcel, mark: Mark, desk: Desk) -> Settlement | None:
    """Return what to write for a mail that was stopped before it could be handed over."""
    match mark.verdict:
        case MarkVerdict.CANCELLED:
            return unsent(parcel, Ending.CANCELLED, "cancelled")
        case MarkVerdict.EXPIRED if parcel.email.unknowns:
            return unsent(parcel, Ending.EXPIRED, UNKNOWN_EXPIRED)
        case MarkVerdict.EXPIRED:
            return unsent(parcel, Ending.EXPIRED, "it expired before it could be sent")
        case MarkVerdict.SUPPRESSED:
            return unsent(parcel, Ending.SUPPRESSED, mark.reason)
        case MarkVerdict.PAUSED:
            return unsent(parcel, Ending.DEFER, None)  # into the lane where it waits
        case MarkVerdict.LOST | MarkVerdict.GO:
            desk.scribe.forget(parcel.email.id, parcel.email.claim_no)
            return None
