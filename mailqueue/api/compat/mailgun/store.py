"""SQL for Mailgun's API."""

from typing import NamedTuple
from uuid import UUID

from mailqueue.db.fetch import Conn, maybe


class SendingRights(NamedTuple):
    """The From patterns a project may use (None: any), and its trap account."""

    allowed_from: list[str] | None
    trap: str | None


async def sending_rights_of(conn: Conn, project_id: UUID) -> SendingRights | None:
    """Return the From patterns and the trap account of a project."""
    return await maybe(conn, "find_allowed_from", {"project_id": project_id}, SendingRights)
