"""SQL of actions on emails and names of sender accounts for the API."""

from typing import NamedTuple
from uuid import UUID

from mailqueue.db.fetch import Conn, maybe


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
