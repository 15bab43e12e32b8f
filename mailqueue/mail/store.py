"""The statements of the send path: claiming, reading contents, marking, settling."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from uuid import UUID

from psycopg.errors import ObjectNotInPrerequisiteState

from mailqueue.core.errors import LeaseLost
from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.mail.model import (
    ClaimedEmail,
    EmailContent,
    Mark,
    MarkVerdict,
    Recipient,
    Settlement,
)


@dataclass(frozen=True, slots=True)
class Gathered:
    """What waking the lanes found; `next_wake` in seconds, None when no block ends by itself."""

    woken: int
    next_wake: float | None


@dataclass(frozen=True, slots=True)
class _MarkRow:
    id: UUID
    verdict: str
    reason: str | None
    stopped: list[str] | None


async def gather_lanes(conn: Conn) -> Gathered:
    """Wake lanes that got mail or whose block is over."""
    return await fetch.one(conn, "gather_lanes", None, Gathered)


async def claim(conn: Conn, worker: int, *, limit: int, lease: timedelta) -> list[ClaimedEmail]:
    """Take up to `limit` recipients' worth of due mail.

    Raises:
        LeaseLost: this worker was declared lost, or has left.
    """
    asked = {"worker": worker, "limit": limit, "lease": lease}
    try:
        return await fetch.many(conn, "claim_emails", asked, ClaimedEmail)
    except ObjectNotInPrerequisiteState as exc:
        raise LeaseLost(f"worker {worker} was declared lost") from exc


async def read_contents(conn: Conn, ids: list[int], *, days: list[date]) -> list[EmailContent]:
    """Read contents by id; `days` are the days they were written on."""
    return await fetch.many(conn, "read_contents", {"ids": ids, "days": days}, EmailContent)


async def read_recipients(conn: Conn, ids: list[UUID]) -> list[Recipient]:
    """Read all recipients of messages that have several."""
    return await fetch.many(conn, "read_recipients", {"ids": ids}, Recipient)


async def mark(
    conn: Conn, worker: int, *, new: Sequence[ClaimedEmail], opened: Sequence[tuple[UUID, int]]
) -> list[Mark]:
    """Write down mails about to be handed over, beside those that still are; one Mark each.

    No rows at all: this worker was declared lost.
    """
    asked = {
        "worker": worker,
        "ids": [email.id for email in new],
        "claims": [email.claim_no for email in new],
        "open_ids": [email_id for email_id, _ in opened],
        "open_claims": [claim_no for _, claim_no in opened],
    }
    rows = await fetch.many(conn, "mark_emails", asked, _MarkRow)
    return [
        Mark(row.id, MarkVerdict(row.verdict), row.reason, tuple(row.stopped or ())) for row in rows
    ]


async def settle(conn: Conn, group: Sequence[Settlement]) -> list[UUID]:
    """Record the outcomes together; give the ids whose claim had moved on."""
    several = [(one, each) for one in group for each in one.recipients]
    if not several:  # one statement: a worker frozen between two would keep limits locked
        return await fetch.value(conn, "settle_emails", _columns(group), list)
    async with conn.transaction():
        await fetch.run(
            conn,
            "settle_recipients",
            {
                "ids": [one.id for one, _ in several],
                "claims": [one.claim_no for one, _ in several],
                "addresses": [each.address for _, each in several],
                "statuses": [each.status for _, each in several],
                "reasons": [each.reason for _, each in several],
                "codes": [each.code for _, each in several],
                "hard": [each.hard for _, each in several],
            },
        )
        return await fetch.value(conn, "settle_emails", _columns(group), list)


def _columns(group: Sequence[Settlement]) -> dict[str, list[object]]:
    return {
        "ids": [one.id for one in group],
        "claims": [one.claim_no for one in group],
        "outcomes": [one.ending.value for one in group],
        "reasons": [one.reason for one in group],
        "waits": [one.wait for one in group],
        "spent": [one.spent for one in group],
        "left": [one.left for one in group],
        "logs": [None if one.log is None else one.log.value for one in group],
        "message_ids": [one.message_id for one in group],
        "provider_ids": [one.provider_message_id for one in group],
        "codes": [one.code for one in group],
        "enhanced": [one.enhanced for one in group],
        "replies": [one.reply for one in group],
        "ms": [one.response_ms for one in group],
        "hard": [one.hard for one in group],
    }


async def ensure_partitions(conn: Conn, months: int) -> int:
    """Make the partitions of the coming months; say how many were missing."""
    return await fetch.value(conn, "ensure_partitions", {"months": months}, int)


async def rest_sender(conn: Conn, account: int, reason: str) -> None:
    """Let an account rest after a failed connection."""
    await fetch.run(conn, "rest_sender", {"account": account, "reason": reason})


async def sender_answered(conn: Conn, account: int) -> None:
    """Write down that the account's server accepts connections again."""
    await fetch.run(conn, "sender_answered", {"account": account})


async def suspend_sender(conn: Conn, account: int, reason: str) -> None:
    """Stop an account whose own server refuses us."""
    await fetch.run(conn, "suspend_sender", {"account": account, "reason": reason})
