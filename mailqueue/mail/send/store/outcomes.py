"""The statement that records outcomes and marks mail to be handed over, and its many arrays."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from mailqueue.core.storable_text import storable
from mailqueue.db import arrays, fetch
from mailqueue.db.faults import OF_ROWS
from mailqueue.db.fetch import Conn
from mailqueue.db.statements.mail import send as sql
from mailqueue.mail.model import (
    ClaimedEmail,
    Ending,
    LogStatus,
    Mark,
    Marks,
    MarkVerdict,
    RecipientOutcome,
    SendOutcome,
    SendStages,
)
from mailqueue.telemetry.log import get_logger

log = get_logger(__name__)

MOVED_ON = "moved_on"
MAX_WAIT = timedelta(days=3_650)
"""Before a mail is tried again; expiry ends it long before."""

# What is wrong with a value, not with the server.
_OF_ONE = (*OF_ROWS, UnicodeError)
# A group that was sent completely needs no further checks.
_ALL_SENT = {
    "outcomes": arrays.texts([Ending.SENT]),
    "logs": arrays.texts([LogStatus.SENT]),
    "reasons": "{}",
    "waits": "{}",
    "left": "{}",
    "hard": "{}",
    "conversations": "{}",
}


@dataclass(frozen=True, slots=True)
class SettleResult:
    """What the database said: the marks of new mail, and the outcomes it refused."""

    marks: Marks
    moved_on: list[UUID]  # mails whose claim had moved on


class _OutcomeRow(NamedTuple):
    id: UUID | None
    verdict: str
    reason: str | None
    stopped: list[str] | None


async def settle_and_mark(
    conn: Conn,
    worker: int,
    *,
    settled: Sequence[SendOutcome] = (),
    new: Sequence[ClaimedEmail] = (),
    opened: Sequence[tuple[UUID, int]] = (),
    is_split: bool = False,
) -> SettleResult:
    """Record outcomes and mark mail to be handed over, beside what still is, in one commit.

    Where the database refuses what one outcome says, each is recorded by itself, unless this is
    such a part already (`is_split`).
    """
    several = [(one, each) for one in settled for each in one.recipients]
    try:
        asked = {
            "worker": worker,
            "new_ids": arrays.uuids([email.id for email in new]),
            "new_claims": arrays.integers([email.claim_no for email in new]),
            "open_ids": arrays.uuids([email_id for email_id, _ in opened]),
            "open_claims": arrays.integers([claim_no for _, claim_no in opened]),
            **_columns(settled),
        }
        if any(one.stages is not None for one in settled):
            await fetch.run(conn, sql.NOTE_SEND_STAGES, _columns_of_stages(settled))
        if not several:  # one statement: a worker frozen between two would keep limits locked
            rows = await fetch.many(conn, sql.SETTLE_AND_MARK, asked, _OutcomeRow)
        else:
            async with conn.transaction():
                await fetch.run(conn, sql.SETTLE_RECIPIENTS, _columns_of_recipients(several))
                rows = await fetch.many(conn, sql.SETTLE_AND_MARK, asked, _OutcomeRow)
    except _OF_ONE as exc:
        if is_split or not settled:
            raise
        log.warning("outcomes.apart", count=len(settled), error=str(exc).partition("\n")[0])
        return await _settle_apart(conn, worker, settled, new=new, opened=opened)
    moved_on = [row.id for row in rows if row.id is not None and row.verdict == MOVED_ON]
    named = {
        row.id: Mark(row.id, MarkVerdict(row.verdict), row.reason, tuple(row.stopped or ()))
        for row in rows
        if row.id is not None and row.verdict != MOVED_ON
    }
    is_known = not new or any(row.id is None for row in rows)  # whether the worker is
    return SettleResult(Marks(named, are_lost=not is_known), moved_on)


async def _settle_apart(
    conn: Conn,
    worker: int,
    settled: Sequence[SendOutcome],
    *,
    new: Sequence[ClaimedEmail],
    opened: Sequence[tuple[UUID, int]],
) -> SettleResult:
    """Record each outcome by itself, then mark.

    One that the database refuses is recorded in fewer words, or with the email's own long texts
    cut. An email whose outcome is refused even so is held; if that fails too, its claim counts as
    moved on.
    """
    moved_on: list[UUID] = []
    for one in settled:  # before the marks: mail that is marked no more is settled
        moved_on += (await _settle_alone(conn, worker, one)).moved_on
    marked = await settle_and_mark(conn, worker, new=new, opened=opened, is_split=True)
    return SettleResult(marked.marks, [*moved_on, *marked.moved_on])


async def _settle_alone(conn: Conn, worker: int, one: SendOutcome) -> SettleResult:
    try:
        return await settle_and_mark(conn, worker, settled=[one], is_split=True)
    except _OF_ONE:
        log.exception("outcome.refused", email_id=str(one.id), outcome=str(one.ending))
    try:
        return await settle_and_mark(conn, worker, settled=[_bare(one)], is_split=True)
    except _OF_ONE:
        await fetch.run(conn, sql.SHORTEN_EMAIL, {"id": one.id, "claim": one.claim_no})
    try:
        return await settle_and_mark(conn, worker, settled=[_bare(one)], is_split=True)
    except _OF_ONE as exc:
        said = f"{one.ending}, but this cannot be recorded: {exc}".partition("\n")[0]
    try:
        values = {
            "id": one.id,
            "claim": one.claim_no,
            "spent": one.spent,
            "reason": storable(said),
        }
        is_ours = await fetch.value(conn, sql.HOLD_UNRECORDED, values, bool)
    except _OF_ONE:  # its lease ends, and its policy for unknown outcomes decides
        log.exception("outcome.lost", email_id=str(one.id), outcome=str(one.ending))
        is_ours = False
    return SettleResult(Marks({}, are_lost=False), [] if is_ours else [one.id])


def _bare(one: SendOutcome) -> SendOutcome:
    """Return an outcome without the words and numbers that others wrote. Pure."""
    said = (one.reason or "").encode("ascii", "replace").decode()
    return one._replace(
        reason="".join([each if each.isprintable() else "?" for each in said])[:1_000] or None,
        wait=None if one.wait is None else min(max(one.wait, timedelta(0)), MAX_WAIT),
        message_id=None,
        provider_message_id=None,
        code=None,
        enhanced=None,
        reply=None,
        response_ms=None,
        conversation=None,
        recipients=tuple([replace(each, reason=None, code=None) for each in one.recipients]),
    )


def _columns_of_stages(group: Sequence[SendOutcome]) -> dict[str, str]:
    """Return the stages of attempts, in milliseconds before now."""
    now = time.monotonic()
    traced = [(one.id, one.stages) for one in group if one.stages is not None]

    def ago(of: Callable[[SendStages], float]) -> str:
        return arrays.integers([round(1000 * (now - of(stages))) for _, stages in traced])

    return {
        "ids": arrays.uuids([email_id for email_id, _ in traced]),
        "claimed": ago(lambda one: one.claimed),
        "begun": ago(lambda one: one.begun),
        "composed": ago(lambda one: one.composed),
        "answered": ago(lambda one: one.answered),
    }


def _columns(group: Sequence[SendOutcome]) -> dict[str, str]:
    sent = {
        "ids": arrays.uuids([one.id for one in group]),
        "claims": arrays.integers([one.claim_no for one in group]),
        "spent": arrays.integers([one.spent for one in group]),
        "message_ids": arrays.texts([one.message_id for one in group]),
        "provider_ids": arrays.texts([one.provider_message_id for one in group]),
        "codes": arrays.texts([one.code for one in group]),
        "enhanced": arrays.texts([one.enhanced for one in group]),
        "replies": arrays.texts([one.reply for one in group]),
        "ms": arrays.integers([one.response_ms for one in group]),
    }
    if group and all(
        one.ending is Ending.SENT
        and one.log is LogStatus.SENT
        and not one.hard
        and one.conversation is None
        for one in group
    ):
        return {**_ALL_SENT, **sent}
    return {
        **sent,
        "outcomes": arrays.texts([one.ending for one in group]),
        "reasons": arrays.texts([one.reason for one in group]),
        "waits": arrays.intervals([one.wait for one in group]),
        "left": arrays.integers([one.left for one in group]),
        "logs": arrays.texts([one.log for one in group]),
        "hard": arrays.booleans([one.hard for one in group]),
        "conversations": arrays.texts([one.conversation for one in group]),
    }


def _columns_of_recipients(
    several: Sequence[tuple[SendOutcome, RecipientOutcome]],
) -> dict[str, str]:
    return {
        "ids": arrays.uuids([one.id for one, _ in several]),
        "claims": arrays.integers([one.claim_no for one, _ in several]),
        **recipient_columns([each for _, each in several]),
    }


def recipient_columns(recipients: Sequence[RecipientOutcome]) -> dict[str, str]:
    """Return the outcomes of recipients as arrays, by the names of parameters. Pure."""
    return {
        "addresses": arrays.texts([each.address for each in recipients]),
        "statuses": arrays.texts([each.status for each in recipients]),
        "reasons": arrays.texts([each.reason for each in recipients]),
        "codes": arrays.texts([each.code for each in recipients]),
        "hards": arrays.booleans([each.hard for each in recipients]),
    }
