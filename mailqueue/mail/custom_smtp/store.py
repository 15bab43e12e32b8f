"""The statements for emails sent while their caller waits, and with custom servers."""

import os
import socket
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple
from uuid import UUID

from psycopg.errors import ConfigurationLimitExceeded
from psycopg.types.json import Jsonb

import mailqueue
from mailqueue.core.errors import Conflict, LimitReached
from mailqueue.core.mailboxes import with_wire_domains
from mailqueue.db import arrays, fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.refusals import refusals
from mailqueue.db.statements.mail import custom_smtp as sql
from mailqueue.mail.accept.store.batches import SharedRow, shared_values
from mailqueue.mail.model import ClaimedEmail, EmailRecipient, NewBatch, SendOutcome
from mailqueue.mail.send.store.claims import read_recipients
from mailqueue.mail.send.store.outcomes import recipient_columns


class StartedEmail(NamedTuple):
    """An accepted email; everything from `worker_id` on is None if nothing is to be sent."""

    id: UUID
    state: str  # sending, suppressed, duplicate
    reason: str | None
    worker_id: int | None
    claim_no: int | None
    recipients: int | None
    category: str | None
    recipient_email: str | None
    recipient_name: str | None
    content_id: int | None
    content_on: date | None
    subject: str | None
    html_body: str | None
    text_body: str | None
    from_email: str | None
    from_name: str | None
    reply_to: str | None
    headers: dict[str, str] | None
    files: list[dict[str, Any]] | None
    tracking_options: int | None
    project_id: UUID | None


async def begin(
    conn: Conn, project: str, message: Mapping[str, Any]
) -> tuple[StartedEmail, list[EmailRecipient]]:
    """Accept, claim and mark one email; return it with its recipients if it has several.

    Raises:
        InvalidField: nothing is stored.
        LimitReached: the project has no headroom now.
        Conflict: the project sends nothing by itself now, or only mail with a DKIM signature.
    """
    asked = {"project": project, "message": Jsonb(with_wire_domains(message)), **_here()}
    try:
        with refusals():
            begun = await fetch.one(conn, sql.BEGIN_CUSTOM_SMTP_NOW, asked, StartedEmail)
    except ConfigurationLimitExceeded as exc:
        why, seconds = exc.diag.message_primary or "", exc.diag.message_detail
        if not seconds:
            raise Conflict(
                f"project {project} cannot send with a custom SMTP server now: {why}"
            ) from None
        raise LimitReached(why, timedelta(seconds=int(seconds))) from None
    several = await read_recipients(conn, [begun.id]) if begun.state == "sending" else []
    return begun, several


class BeginState(StrEnum):
    """What begin_custom_smtp found; the email is to be sent only if it is marked."""

    MARKED = "marked"
    FINISHED = "finished"
    HELD = "held"  # until a person releases it
    WAITING = "waiting"  # try again after `wait`
    LOST = "lost"  # the claim no longer holds


class BegunQueued(NamedTuple):
    """Result of begin_custom_smtp, followed by the columns of the marked email."""

    state: str
    reason: str | None
    wait: timedelta | None
    worker_id: int
    id: UUID
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

    @property
    def email(self) -> ClaimedEmail:
        """Return the email as claimed emails are."""
        return ClaimedEmail._make(self[-len(ClaimedEmail._fields) :])


class QueuedCustomSmtp(NamedTuple):
    """An accepted email: queued, suppressed or duplicate."""

    id: UUID
    state: str
    reason: str | None


class Due(NamedTuple):
    """A server whose email is still to be sent, and when."""

    id: UUID
    run_at: datetime


async def queue(
    conn: Conn, project: str, message: Mapping[str, Any], *, server_id: UUID, sealed: bytes
) -> QueuedCustomSmtp:
    """Accept one email that is sent later by a custom SMTP server.

    Raises:
        InvalidField: nothing is stored.
    """
    asked = {"project": project, "message": Jsonb(message), "id": server_id, "sealed": sealed}
    with refusals():
        return await fetch.one(conn, sql.QUEUE_CUSTOM_SMTP, asked, QueuedCustomSmtp)


async def queue_shared(
    conn: Conn,
    project: str,
    batch: NewBatch,
    *,
    is_strict: bool,
    by: str,
    servers: Mapping[UUID, bytes],
) -> list[SharedRow]:
    """Accept one content for many, each email with a custom SMTP server, sealed, by its id.

    Raises:
        InvalidField: content or options are refused; nothing is stored.
    """
    asked = {
        **shared_values(project, batch, is_strict=is_strict, by=by),
        "servers": list(servers),
        "sealed": list(servers.values()),
    }
    with refusals():
        return await fetch.many(conn, sql.QUEUE_SHARED_CUSTOM_SMTP, asked, SharedRow)


async def begin_queued(conn: Conn, server_id: UUID, claim_no: int) -> BegunQueued:
    """Mark the email of a claimed row, or return why it is not sent now."""
    asked = {"server": server_id, "claim": claim_no, **_here()}
    return await fetch.one(conn, sql.BEGIN_CUSTOM_SMTP, asked, BegunQueued)


async def read_due(conn: Conn, server_ids: Sequence[UUID]) -> dict[UUID, datetime]:
    """Return when the emails that are still to be sent are due, by the id of their servers."""
    found = await fetch.many(conn, sql.DUE_CUSTOM_SMTP, {"ids": arrays.uuids(server_ids)}, Due)
    return {one.id: one.run_at for one in found}


async def sweep(conn: Conn) -> int:
    """Delete servers whose mail is finished, held or expired; return their number."""
    return await fetch.value(conn, sql.SWEEP_CUSTOM_SMTP_SERVERS, None, int)


async def settle(conn: Conn, worker: int, done: SendOutcome) -> bool:
    """Write the outcome; return False if a rescue held the email meanwhile."""
    asked = {
        "worker": worker,
        "id": done.id,
        "claim": done.claim_no,
        "outcome": done.ending,
        "reason": done.reason,
        "wait": done.wait,
        "spent": done.spent,
        "left": done.left,
        "log": done.log,
        "message_id": done.message_id,
        "code": done.code,
        "enhanced": done.enhanced,
        "reply": done.reply,
        "ms": done.response_ms,
        "hard": done.hard,
        "conversation": done.conversation,
        **recipient_columns(done.recipients),
    }
    return await fetch.value(conn, sql.SETTLE_CUSTOM_SMTP, asked, bool)


def _here() -> dict[str, Any]:
    return {
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "version": mailqueue.__version__,
    }
