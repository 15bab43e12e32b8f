"""The statement that records outcomes and marks mail to be handed over, and its many arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from mailqueue.db import arrays, fetch
from mailqueue.db.fetch import Conn
from mailqueue.mail.model import (
    ClaimedEmail,
    Ending,
    LogStatus,
    Mark,
    Marks,
    MarkVerdict,
    RecipientSettlement,
    Settlement,
)

MOVED_ON = "moved_on"
# Of a group that was sent, all of it, nothing more is looked at.
_ALL_SENT = {
    "outcomes": arrays.texts([Ending.SENT]),
    "logs": arrays.texts([LogStatus.SENT]),
    "reasons": "{}",
    "waits": "{}",
    "left": "{}",
    "hard": "{}",
}


@dataclass(frozen=True, slots=True)
class Written:
    """What the database said: the marks of new mail, and the outcomes it refused."""

    marks: Marks
    moved_on: list[UUID]  # mails whose claim had moved on


class _Row(NamedTuple):
    id: UUID | None
    verdict: str
    reason: str | None
    stopped: list[str] | None


async def write_down(
    conn: Conn,
    worker: int,
    *,
    settled: Sequence[Settlement] = (),
    new: Sequence[ClaimedEmail] = (),
    opened: Sequence[tuple[UUID, int]] = (),
) -> Written:
    """Record outcomes and mark mail to be handed over, beside what still is, in one commit."""
    asked = {"worker": worker, **_marked(new, opened), **_columns(settled)}
    several = [(one, each) for one in settled for each in one.recipients]
    if not several:  # one statement: a worker frozen between two would keep limits locked
        return _read(await fetch.many(conn, "write_down", asked, _Row), asked=bool(new))
    async with conn.transaction():
        await fetch.run(conn, "settle_recipients", _columns_of_recipients(several))
        return _read(await fetch.many(conn, "write_down", asked, _Row), asked=bool(new))


def _read(rows: Sequence[_Row], *, asked: bool) -> Written:
    named: dict[UUID, Mark] = {}
    moved_on: list[UUID] = []
    is_known = not asked
    for row in rows:
        if row.id is None:
            is_known = True
        elif row.verdict == MOVED_ON:
            moved_on.append(row.id)
        else:
            verdict, stopped = MarkVerdict(row.verdict), tuple(row.stopped or ())
            named[row.id] = Mark(row.id, verdict, row.reason, stopped)
    return Written(Marks(named, are_lost=not is_known), moved_on)


def _marked(new: Sequence[ClaimedEmail], opened: Sequence[tuple[UUID, int]]) -> dict[str, str]:
    return {
        "new_ids": arrays.uuids([email.id for email in new]),
        "new_claims": arrays.integers([email.claim_no for email in new]),
        "open_ids": arrays.uuids([email_id for email_id, _ in opened]),
        "open_claims": arrays.integers([claim_no for _, claim_no in opened]),
    }


def _columns(group: Sequence[Settlement]) -> dict[str, str]:
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
    if group and all(map(_is_sent, group)):
        return {**_ALL_SENT, **sent}
    return {
        **sent,
        "outcomes": arrays.texts([one.ending for one in group]),
        "reasons": arrays.texts([one.reason for one in group]),
        "waits": arrays.intervals([one.wait for one in group]),
        "left": arrays.integers([one.left for one in group]),
        "logs": arrays.texts([one.log for one in group]),
        "hard": arrays.booleans([one.hard for one in group]),
    }


def _is_sent(one: Settlement) -> bool:
    return one.ending is Ending.SENT and one.log is LogStatus.SENT and not one.hard


def _columns_of_recipients(
    several: Sequence[tuple[Settlement, RecipientSettlement]],
) -> dict[str, str]:
    return {
        "ids": arrays.uuids([one.id for one, _ in several]),
        "claims": arrays.integers([one.claim_no for one, _ in several]),
        "addresses": arrays.texts([each.address for _, each in several]),
        "statuses": arrays.texts([each.status for _, each in several]),
        "reasons": arrays.texts([each.reason for _, each in several]),
        "codes": arrays.texts([each.code for _, each in several]),
        "hard": arrays.booleans([each.hard for _, each in several]),
    }
