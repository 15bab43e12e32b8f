"""SQL of mail in the form of compatible APIs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from mailqueue.db.fetch import Conn, many, maybe, run
from mailqueue.db.statements.emails import compat as sql


@dataclass(frozen=True, slots=True)
class NamedEmail:
    """One mail of several, and the type of its last event."""

    id: UUID
    status: str
    from_email: str | None
    from_name: str | None
    reply_to: str | None
    recipient_email: str
    recipient_name: str | None
    subject: str | None
    created_at: datetime
    run_at: datetime | None
    last_event: str | None


class OneRecipient(NamedTuple):
    """One recipient of a mail that has several."""

    email_id: UUID
    kind: str
    address: str
    name: str | None
    status: str


class Rescheduled(NamedTuple):
    """Result of rescheduling; `outcome` None: the state of the mail does not allow it."""

    outcome: str | None
    state: str


async def keep_batch(
    conn: Conn, project_id: UUID, ids: Sequence[UUID], *, subject: str | None, by: str
) -> None:
    """Store the mails of one request as a batch whose id is that of the first."""
    asked = {"project_id": project_id, "ids": list(ids), "subject": subject, "by": by}
    await run(conn, sql.KEEP_BATCH, asked)


async def reschedule(
    conn: Conn, email_id: UUID, *, project_id: UUID, at: datetime, by: str
) -> Rescheduled | None:
    """Reschedule a mail that was not attempted yet; return None where the project has no such
    mail.
    """
    asked = {"id": email_id, "project_id": project_id, "at": at, "by": by}
    return await maybe(conn, sql.RESCHEDULE_EMAIL, asked, Rescheduled)


async def list_newer_ids(conn: Conn, after: UUID, *, project_id: UUID, limit: int) -> list[UUID]:
    """Return the ids of the mails accepted after one, oldest first."""
    asked = {"project_id": project_id, "after": after, "limit": limit}
    return await many(conn, sql.LIST_NEWER_IDS, asked, UUID)


async def list_named(conn: Conn, ids: Sequence[UUID], *, project_id: UUID) -> list[NamedEmail]:
    """Return mails by their ids, newest first."""
    asked = {"project_id": project_id, "ids": list(ids)}
    return await many(conn, sql.LIST_NAMED_EMAILS, asked, NamedEmail)


async def list_recipients(
    conn: Conn, ids: Sequence[UUID], *, project_id: UUID
) -> list[OneRecipient]:
    """Return the recipients of those mails that have several, in order."""
    asked = {"project_id": project_id, "ids": list(ids)}
    return await many(conn, sql.LIST_RECIPIENTS_OF_EMAILS, asked, OneRecipient)
