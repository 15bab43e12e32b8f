"""The statements of the send path that claim and read emails; outcomes.py writes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple
from uuid import UUID

from psycopg.errors import ObjectNotInPrerequisiteState

from mailqueue.core.errors import LeaseLost
from mailqueue.db import arrays, fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.statements.mail import send as sql
from mailqueue.mail.model import (
    ClaimedEmail,
    EmailContent,
    EmailRecipient,
    Mark,
    Marks,
    MarkVerdict,
    StoredFile,
)

MAX_SIGNALS = 5000
"""Signals that waking the lanes consumes at once."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """What waking the lanes found: -1 if another process is waking them.

    With `woken` below 0 or at `MAX_SIGNALS`, lanes may be left that have mail and are not ready.
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
    return await fetch.one(conn, sql.GATHER_LANES, None, Gathered)


class Taken(NamedTuple):
    """The emails of one claim with what was read in the same statement.

    `is_left`: more can be claimed now. `next_wake` is in seconds, None when no block of a lane ends
    by itself. `marks`: the only email was marked in the claim. `send_at`: when an email is to
    be sent, where a rate is kept; all others at once. `claimed_at`: when the claim ended. Both are
    in seconds since 1970 by the database's clock.
    """

    emails: list[ClaimedEmail]
    contents: dict[int, EmailContent] | None = None  # None: not read
    recipients: dict[UUID, tuple[EmailRecipient, ...]] = {}  # noqa: RUF012
    marks: Marks | None = None
    is_left: bool = True
    next_wake: float | None = None
    send_at: dict[UUID, float] = {}  # noqa: RUF012
    claimed_at: float = 0.0


class RowKind(StrEnum):
    """What a row of the answer to a claim is; columns of other kinds are NULL."""

    CLAIM = "claim"
    CONTENT = "content"
    VERDICT = "verdict"


class _Row(NamedTuple):
    kind: str
    send_at: float | None  # seconds since 1970; of the verdict the time of the database
    id: UUID  # this and the following: of a claim
    claim_no: int
    assigned_to: int
    account_revision: int
    project_id: UUID
    attempts: int
    recipients: int
    unknowns: int
    expires_at: datetime
    category: str
    recipient_email: str
    recipient_name: str | None
    custom_data: Any
    content_id: int
    content_on: date
    several: list[tuple[str, str, str | None, str]] | None
    found_content_id: int  # this and the following: of a content
    subject: str
    html_body: str | None
    text_body: str | None
    from_email: str | None
    from_name: str | None
    reply_to: str | None
    headers: dict[str, str] | None
    files: list[dict[str, Any]] | None
    template_version_id: UUID | None
    template_language: str | None
    tracking_options: int | None
    header_recipients: dict[str, list[str]] | None
    verdict: str | None  # this and the following: of the verdict; None: not marked
    reason: str | None
    stopped: list[str] | None
    is_left: bool
    next_wake: float | None


_CLAIM, _AFTER_CLAIM = _Row._fields.index("id"), _Row._fields.index("several")
_CONTENT, _AFTER_CONTENT = _Row._fields.index("found_content_id"), _Row._fields.index("verdict")


async def take(
    conn: Conn,
    worker: int,
    *,
    limit: int,
    lease: timedelta,
    avoid: Sequence[int] = (),
    may_mark: bool = False,
) -> Taken:
    """Claim due emails of up to `limit` recipients, but none of accounts to avoid, and read them.

    With `may_mark` a claim of a single email marks it: nothing else of this worker may be marked,
    or about to be.

    Raises:
        LeaseLost: this worker was declared lost, or has left.
    """
    asked = {
        "worker": worker,
        "limit": limit,
        "lease": lease,
        "avoid": list(avoid),
        "may_mark": may_mark,
    }
    try:
        rows = await fetch.many(conn, sql.CLAIM_EMAILS, asked, _Row)
    except ObjectNotInPrerequisiteState as exc:
        raise LeaseLost(f"worker {worker} was declared lost") from exc
    emails: list[ClaimedEmail] = []
    contents: dict[int, EmailContent] = {}
    recipients: dict[UUID, tuple[EmailRecipient, ...]] = {}
    send_at: dict[UUID, float] = {}
    marks = None
    for row in rows:
        if row.kind == RowKind.CLAIM:
            emails.append(ClaimedEmail._make(row[_CLAIM:_AFTER_CLAIM]))
            if row.several:
                recipients[row.id] = tuple([EmailRecipient(row.id, *one) for one in row.several])
            if row.send_at is not None:
                send_at[row.id] = row.send_at
        elif row.kind == RowKind.CONTENT:
            contents[row.found_content_id] = EmailContent._make(row[_CONTENT:_AFTER_CONTENT])
    end = rows[-1]  # the verdict
    if emails and end.verdict is not None:  # of the only email
        mark = Mark(emails[0].id, MarkVerdict(end.verdict), end.reason, tuple(end.stopped or ()))
        is_plain = mark.verdict is MarkVerdict.GO and not mark.stopped
        marks = Marks({} if is_plain else {mark.id: mark})
    at = end.send_at or 0.0
    return Taken(emails, contents, recipients, marks, end.is_left, end.next_wake, send_at, at)


async def claim(
    conn: Conn, worker: int, *, limit: int, lease: timedelta, avoid: Sequence[int] = ()
) -> list[ClaimedEmail]:
    """Claim due emails as `take` does, without their contents.

    Raises:
        LeaseLost: this worker was declared lost, or has left.
    """
    asked = {"worker": worker, "limit": limit, "lease": lease, "avoid": list(avoid)}
    try:
        return await fetch.many(conn, sql.CLAIM_EMAILS_UNREAD, asked, ClaimedEmail)
    except ObjectNotInPrerequisiteState as exc:
        raise LeaseLost(f"worker {worker} was declared lost") from exc


async def claim_suspect(conn: Conn, worker: int, *, lease: timedelta) -> list[ClaimedEmail]:
    """Claim one due email whose worker stopped while handling it; empty where none can be sent.

    Raises:
        LeaseLost: this worker was declared lost, or has left.
    """
    asked = {"worker": worker, "lease": lease}
    try:
        return await fetch.many(conn, sql.CLAIM_SUSPECT, asked, ClaimedEmail)
    except ObjectNotInPrerequisiteState as exc:
        raise LeaseLost(f"worker {worker} was declared lost") from exc


async def find_claims(conn: Conn, worker: int, *, after: int) -> list[ClaimedEmail]:
    """Return what the worker holds by claims after that number, as the claims would have."""
    asked = {"worker": worker, "after": after}
    return await fetch.many(conn, sql.FIND_CLAIMS, asked, ClaimedEmail)


async def read_contents(conn: Conn, ids: list[int], *, days: list[date]) -> list[EmailContent]:
    """Read contents by id; `days` are the days they were written on."""
    asked = {"ids": arrays.integers(ids), "days": days}
    return await fetch.many(conn, sql.READ_CONTENTS, asked, EmailContent)


async def read_attachments(conn: Conn, ids: list[UUID], *, days: list[date]) -> list[StoredFile]:
    """Read the bytes of files by id; `days` are the days they were stored on."""
    asked = {"ids": ids, "days": days}
    return await fetch.many(conn, sql.READ_ATTACHMENTS, asked, StoredFile, binary=True)


async def read_tags(conn: Conn, ids: list[UUID]) -> list[Tagged]:
    """Read the tags of those of these mails that have any."""
    return await fetch.many(conn, sql.READ_TAGS, {"ids": ids}, Tagged)


async def read_recipients(conn: Conn, ids: list[UUID]) -> list[EmailRecipient]:
    """Read all recipients of messages that have several."""
    return await fetch.many(conn, sql.READ_RECIPIENTS, {"ids": arrays.uuids(ids)}, EmailRecipient)


async def ensure_partitions(conn: Conn, months: int) -> int:
    """Make the partitions of the coming months; return how many were missing."""
    return await fetch.value(conn, sql.ENSURE_PARTITIONS, {"months": months}, int)


async def rest_sender(conn: Conn, account: int, reason: str) -> None:
    """Let an account rest after a failed connection."""
    await fetch.run(conn, sql.REST_SENDER, {"account": account, "reason": reason})


async def rest_sender_for(
    conn: Conn, account: int, reason: str, *, wait: timedelta | None, is_quota: bool = False
) -> None:
    """Let an account rest as its provider asked, in every process; None: longer each time."""
    asked = {"account": account, "reason": reason, "wait": wait, "is_quota": is_quota}
    await fetch.run(conn, sql.REST_SENDER_FOR, asked)


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
    """Record emails that failed for a reason of the account; too many open its circuit."""
    asked = {
        "account": account,
        "kinds": list(kinds),
        "domains": list(domains),
        "details": list(details),
        "emails": list(emails),
        "refusals": list(refusals),
    }
    await fetch.run(conn, sql.REPORT_FAILURES, asked)


async def sender_answered(conn: Conn, account: int) -> None:
    """Write down that the account's server accepts connections again."""
    await fetch.run(conn, sql.SENDER_ANSWERED, {"account": account})


async def suspend_sender(conn: Conn, account: int, reason: str) -> None:
    """Stop an account whose own server refuses us."""
    await fetch.run(conn, sql.SUSPEND_SENDER, {"account": account, "reason": reason})
