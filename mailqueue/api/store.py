"""Mail as the API accepts and shows it; the only file here that runs SQL."""

from uuid import UUID

from mailqueue.api.model import Attempt, Email, Event, Recipient
from mailqueue.db.fetch import Conn, many, maybe, run


async def act_for(conn: Conn, project_id: UUID | None, *, by: str) -> None:
    """Have the rights of the API's role for one project, None for all, until COMMIT."""
    project = "*" if project_id is None else str(project_id)
    await run(conn, "act_for", {"project": project, "by": by})


async def find_suppression(conn: Conn, email_id: UUID) -> str | None:
    """Give the reason a mail was suppressed for when it was accepted, if it was."""
    return await maybe(conn, "find_suppression_at_accept", {"id": email_id}, str)


async def find_email(conn: Conn, email_id: UUID, *, project_id: UUID) -> Email | None:
    """Find a mail of a project."""
    params = {"id": email_id, "project_id": project_id}
    return await maybe(conn, "find_project_email", params, Email)


async def list_recipients(conn: Conn, email_id: UUID) -> list[Recipient]:
    """List the recipients of a message that has several."""
    return await many(conn, "list_email_recipients", {"id": email_id}, Recipient)


async def list_attempts(conn: Conn, email_id: UUID) -> list[Attempt]:
    """List the attempts to hand a mail over, oldest first."""
    return await many(conn, "list_email_attempts", {"id": email_id}, Attempt)


async def list_events(conn: Conn, email_id: UUID) -> list[Event]:
    """List what else happened to a mail, oldest first."""
    return await many(conn, "list_email_events", {"id": email_id}, Event)


async def find_refusal(conn: Conn) -> str | None:
    """Say why no mail is accepted now; None while it is."""
    return await maybe(conn, "find_refusal", None, str)
