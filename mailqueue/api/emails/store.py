"""Mail as lists of the API show it, and the accounts it may name."""

from collections.abc import Mapping
from typing import Any, NamedTuple
from uuid import UUID

from mailqueue.contract.emails import ListedEmail
from mailqueue.db.fetch import Conn, many, maybe


async def list_page(conn: Conn, asked: Mapping[str, Any]) -> list[ListedEmail]:
    """List mails of a project, the newest first."""
    return await many(conn, "list_project_emails", asked, ListedEmail)


class ActedOn(NamedTuple):
    """What was done to a mail; `outcome` None: its state does not allow it."""

    outcome: str | None
    email_id: UUID
    state: str


async def act(
    conn: Conn, email_id: UUID, *, project_id: UUID, action: str, reason: str, by: str
) -> ActedOn | None:
    """Cancel, release or resend a mail of a project; None where it has none."""
    asked = {"id": email_id, "project_id": project_id, "action": action, "reason": reason}
    return await maybe(conn, "act_on_email", asked | {"by": by}, ActedOn)


async def find_sender_name(conn: Conn, given: str, *, project_id: UUID) -> str | None:
    """Return the name of the sender account that has this id or name."""
    asked = {"given": given, "project_id": project_id}
    return await maybe(conn, "find_sender_name", asked, str)
