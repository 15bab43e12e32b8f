"""The statement that says what a project takes by SMTP."""

from uuid import UUID

from mailqueue.db import fetch
from mailqueue.db.fetch import Conn


async def message_bytes(conn: Conn, project_id: UUID) -> int | None:
    """Return how large a message may be in a project; None where there is no such project."""
    return await fetch.maybe(conn, "message_bytes_of", {"project_id": project_id}, int)
