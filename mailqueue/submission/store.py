"""The limits of a project for SMTP submission; the only file here that runs SQL."""

from uuid import UUID

from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.statements.mail import submission as sql


async def message_bytes(conn: Conn, project_id: UUID) -> int | None:
    """Return the maximum size of a message in bytes; None if the project does not exist."""
    return await fetch.maybe(conn, sql.MESSAGE_BYTES_OF, {"project_id": project_id}, int)
