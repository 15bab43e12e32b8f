"""The statements of the send path: claiming and reading contents; writing is in store_outcomes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from uuid import UUID

from psycopg.errors import ObjectNotInPrerequisiteState

from mailqueue.core.errors import LeaseLost
from mailqueue.db import arrays, fetch
from mailqueue.db.fetch import Conn
from mailqueue.mail.model import (
    ClaimedEmail,
    EmailContent,
    EmailRecipient,
    StoredFile,
)


@dataclass(frozen=True, slots=True)
class Gathered:
    """What waking the lanes found: -1 if another process is waking them.

    `next_wake` is in seconds, None when no block ends by itself.
    """

    woken: int
    next_wake: float | None


@dataclass(frozen=True, slots=True)
class Tagged:
    """A mail and the words its provider is to count it by."""

    id: UUID
    tags: list[str]


async def gather_lanes(conn: Conn) -> Gathered:
    """Wake lanes that got mail or whose block is over."""
    return await fetch.one(conn, "gather_lanes", None, Gathered)


async def are_lanes_ready(conn: Conn, *, avoid: Sequence[int]) -> bool:
    """Return whether a claim that got nothing only passed over what others hold."""
    return await fetch.value(conn, "are_lanes_ready", {"avoid": list(avoid)}, bool)


async def claim(
    conn: Conn, worker: int, *, limit: int, lease: timedelta, avoid: Sequence[int] = ()
) -> list[ClaimedEmail]:
    """Take up to `limit` recipients' worth of due mail, but none of accounts to avoid.

    Raises:
        LeaseLost: this worker was declared lost, or has left.
    """
    asked = {"worker": worker, "limit": limit, "lease": lease, "avoid": list(avoid)}
    try:
        return await fetch.many(conn, "claim_emails", asked, ClaimedEmail)
    except ObjectNotInPrerequisiteState as exc:
        raise LeaseLost(f"worker {worker} was declared lost") from exc


async def find_claims(conn: Conn, worker: int, *, after: int) -> list[ClaimedEmail]:
    """Return what the worker holds by claims after that number, as the claims would have."""
    asked = {"worker": worker, "after": after}
    return await fetch.many(conn, "find_claims", asked, ClaimedEmail)


async def read_contents(conn: Conn, ids: list[int], *, days: list[date]) -> list[EmailContent]:
    """Read contents by id; `days` are the days they were written on."""
    asked = {"ids": arrays.integers(ids), "days": days}
    return await fetch.many(conn, "read_contents", asked, EmailContent)


async def read_attachments(conn: Conn, ids: list[UUID], *, days: list[date]) -> list[StoredFile]:
    """Read the octets of files by id; `days` are the days they were stored on."""
    return await fetch.many(conn, "read_attachments", {"ids": ids, "days": days}, StoredFile)


async def read_tags(conn: Conn, ids: list[UUID]) -> list[Tagged]:
    """Read the tags of those of these mails that have any."""
    return await fetch.many(conn, "read_tags", {"ids": ids}, Tagged)


async def read_recipients(conn: Conn, ids: list[UUID]) -> list[EmailRecipient]:
    """Read all recipients of messages that have several."""
    return await fetch.many(conn, "read_recipients", {"ids": arrays.uuids(ids)}, EmailRecipient)


async def ensure_partitions(conn: Conn, months: int) -> int:
    """Make the partitions of the coming months; return how many were missing."""
    return await fetch.value(conn, "ensure_partitions", {"months": months}, int)


async def rest_sender(conn: Conn, account: int, reason: str) -> None:
    """Let an account rest after a failed connection."""
    await fetch.run(conn, "rest_sender", {"account": account, "reason": reason})


async def rest_sender_for(
    conn: Conn, account: int, reason: str, *, wait: timedelta | None, is_quota: bool = False
) -> None:
    """Let an account rest as its provider asked, in every process; None: longer each time."""
    asked = {"account": account, "reason": reason, "wait": wait, "is_quota": is_quota}
    await fetch.run(conn, "rest_sender_for", asked)


async def report_failures(
    conn: Conn,
    account: int,
    *,
    kinds: Sequence[str],
    domains: Sequence[str | None],
    details: Sequence[str],
    emails: Sequence[UUID] = (),
    refusals: Sequence[str | None] = (),
) -> None:
    """Note mails that failed for reasons of the account's; too many open its circuit."""
    asked = {
        "account": account,
        "kinds": list(kinds),
        "domains": list(domains),
        "details": list(details),
        "emails": list(emails),
        "refusals": list(refusals),
    }
    await fetch.run(conn, "report_failures", asked)


async def sender_answered(conn: Conn, account: int) -> None:
    """Write down that the account's server accepts connections again."""
    await fetch.run(conn, "sender_answered", {"account": account})


async def suspend_sender(conn: Conn, account: int, reason: str) -> None:
    """Stop an account whose own server refuses us."""
    await fetch.run(conn, "suspend_sender", {"account": account, "reason": reason})
