"""SQL of stored emails and their files."""

from datetime import date
from typing import Any, NamedTuple
from uuid import UUID

from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.statements.mail import attachments as attachments_sql
from mailqueue.db.statements.mail import batches as batches_sql
from mailqueue.mail.model import StoredFile


class Filed(NamedTuple):
    """A file in a folder or bucket, with its size and checksum."""

    location: str
    sha256: bytes
    project: str
    bytes: int


async def read_message_source(
    conn: Conn, project_id: UUID, email_id: UUID
) -> dict[str, Any] | None:
    """Return an email of a project with all that is needed to build its message."""
    return await fetch.maybe(
        conn, batches_sql.READ_MESSAGE_SOURCE, {"project_id": project_id, "id": email_id}, dict
    )


async def files_of(
    conn: Conn, project_id: UUID, ids: list[UUID], *, days: list[date]
) -> list[StoredFile]:
    """Return files of a project by id; `days` are the days they were stored on."""
    asked = {"project_id": project_id, "ids": ids, "days": days}
    return await fetch.many(conn, attachments_sql.FILES_OF, asked, StoredFile)


async def list_stored(conn: Conn, *, after: str, limit: int) -> list[Filed]:
    """Return up to `limit` files in folders and buckets, ordered by location, after `after`."""
    return await fetch.many(
        conn, attachments_sql.LIST_STORED_FILES, {"after": after, "most": limit}, Filed
    )
