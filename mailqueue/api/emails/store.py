"""SQL of mail and sender accounts for the API."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from mailqueue.contract.emails import Attempt, Email, Event, ListedEmail, Recipient
from mailqueue.db.fetch import Conn, many, maybe


async def list_page(conn: Conn, params: Mapping[str, Any]) -> list[ListedEmail]:
    """Return mails of a project, newest first."""
    return await many(conn, "list_project_emails", params, ListedEmail)


class ActedOn(NamedTuple):
    """Result of an action on a mail; `outcome` None: its state does not allow it."""

    outcome: str | None
    email_id: UUID
    state: str


async def act(
    conn: Conn, email_id: UUID, *, project_id: UUID, action: str, reason: str, by: str
) -> ActedOn | None:
    """Cancel, release or resend a mail of a project; return None where there is no such mail."""
    asked = {"id": email_id, "project_id": project_id, "action": action, "reason": reason}
    return await maybe(conn, "act_on_email", asked | {"by": by}, ActedOn)


async def find_sender_name(conn: Conn, sender: str, *, project_id: UUID) -> str | None:
    """Return the name of the sender account that has this id or name."""
    asked = {"given": sender, "project_id": project_id}
    return await maybe(conn, "find_sender_name", asked, str)


async def find_email(conn: Conn, email_id: UUID, *, project_id: UUID) -> Email | None:
    """Return an email of a project with empty lists; None where there is none."""
    params = {"id": email_id, "project_id": project_id}
    return await maybe(conn, "find_project_email", params, Email)


async def list_recipients(conn: Conn, email_id: UUID) -> list[Recipient]:
    """Return the recipients of a mail that has several."""
    return await many(conn, "list_email_recipients", {"id": email_id}, Recipient)


async def list_attempts(conn: Conn, email_id: UUID) -> list[Attempt]:
    """Return the attempts to send a mail, oldest first."""
    return await many(conn, "list_email_attempts", {"id": email_id}, Attempt)


async def list_events(
    conn: Conn,
    email_id: UUID,
    *,
    after: tuple[datetime | None, UUID | None] = (None, None),
    limit: int | None = None,
) -> list[Event]:
    """Return the other events of a mail, oldest first, after one of them."""
    params = {"id": email_id, "after": after[0], "after_id": after[1], "limit": limit}
    return await many(conn, "list_email_events", params, Event)
