"""SQL that reads emails of one project."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from mailqueue.contract.emails import Attempt, Email, Event, ListedEmail, Recipient
from mailqueue.db.fetch import Conn, many, maybe
from mailqueue.db.statements.emails import api as api_sql
from mailqueue.db.statements.mail import batches as batches_sql
from mailqueue.mail.reads.conversations import with_conversation


async def list_page(conn: Conn, params: Mapping[str, Any]) -> list[ListedEmail]:
    """Return emails of a project, newest first."""
    return await many(conn, batches_sql.LIST_PROJECT_EMAILS, params, ListedEmail)


async def looked_from(
    conn: Conn, project_id: UUID, *, before: UUID | None, looked: int
) -> UUID | None:
    """Return the oldest of so many emails before one; None if there are fewer."""
    params = {"project_id": project_id, "before": before, "looked": looked}
    return await maybe(conn, batches_sql.EMAILS_LOOKED_FROM, params, UUID)


async def find_email(conn: Conn, email_id: UUID, *, project_id: UUID) -> Email | None:
    """Return an email of a project with empty lists; None where there is none."""
    params = {"id": email_id, "project_id": project_id}
    return await maybe(conn, api_sql.FIND_PROJECT_EMAIL, params, Email)


async def list_recipients(conn: Conn, email_id: UUID) -> list[Recipient]:
    """Return the recipients of an email that has several."""
    return await many(conn, api_sql.LIST_EMAIL_RECIPIENTS, {"id": email_id}, Recipient)


async def list_newest_attempts(
    conn: Conn, email_id: UUID, *, limit: int, conversations: int
) -> list[Attempt]:
    """Return the newest attempts to send an email, newest first; so many with what was said."""
    params = {"id": email_id, "limit": limit, "conversations": conversations}
    found = await many(conn, api_sql.LIST_NEWEST_ATTEMPTS, params, Attempt)
    return [with_conversation(each) for each in found]


async def list_newest_events(conn: Conn, email_id: UUID, *, limit: int) -> list[Event]:
    """Return the newest other events of an email, newest first."""
    return await many(
        conn, api_sql.LIST_NEWEST_EMAIL_EVENTS, {"id": email_id, "limit": limit}, Event
    )


async def list_events(
    conn: Conn,
    email_id: UUID,
    *,
    after: tuple[datetime | None, UUID | None] = (None, None),
    limit: int,
) -> list[Event]:
    """Return all events of an email, `queued` and `sent` included, oldest first, after one of
    them.
    """
    params = {"id": email_id, "after": after[0], "after_id": after[1], "limit": limit}
    return await many(conn, api_sql.LIST_EMAIL_EVENTS, params, Event)
