"""SQL of attachments in folders and buckets."""

from datetime import date
from typing import NamedTuple
from uuid import UUID

from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.statements import tracking as tracking_sql
from mailqueue.db.statements.mail import attachments as attachments_sql
from mailqueue.db.statements.mail import batches as batches_sql
from mailqueue.db.statements.mail import custom_smtp as custom_smtp_sql


class LargeFile(NamedTuple):
    """A file in the database that is large enough for a folder or bucket."""

    id: UUID
    created_on: date
    project_id: UUID
    bytes: int


async def sweep(conn: Conn) -> int:
    """Delete files that no mail uses and whose retention is over; return their number."""
    return await fetch.value(conn, attachments_sql.SWEEP_STORED_FILES, None, int)


async def sweep_batches(conn: Conn) -> int:
    """Delete batches whose mails are archived; return their number."""
    return await fetch.value(conn, batches_sql.SWEEP_BATCHES, None, int)


async def sweep_custom_smtp_servers(conn: Conn) -> int:
    """Delete servers whose mail is finished, held or expired; return their number."""
    return await fetch.value(conn, custom_smtp_sql.SWEEP_CUSTOM_SMTP_SERVERS, None, int)


async def sweep_tracked_links(conn: Conn) -> int:
    """Delete a batch of links that no recent mail has; return their number."""
    return await fetch.value(conn, tracking_sql.SWEEP_TRACKED_LINKS, None, int)


async def list_projects(conn: Conn) -> list[UUID]:
    """Return the ids of all projects."""
    return await fetch.many(conn, attachments_sql.LIST_PROJECT_IDS, None, UUID)


async def known(conn: Conn, locations: list[str]) -> set[str]:
    """Return those of the locations that a file row names."""
    if not locations:
        return set()
    return set(
        await fetch.many(conn, attachments_sql.LIST_KNOWN_LOCATIONS, {"locations": locations}, str)
    )


async def list_large(conn: Conn, over: int, *, after: LargeFile | None) -> list[LargeFile]:
    """Return files in the database of at least `over` bytes, after the id `after`."""
    asked = {
        "over": over,
        "after_day": after.created_on if after else date.min,
        "after": after.id if after else UUID(int=0),
    }
    return await fetch.many(conn, attachments_sql.LIST_LARGE_ATTACHMENTS, asked, LargeFile)


async def read_octets(conn: Conn, file: LargeFile) -> bytes | None:
    """Return the bytes of a file in the database."""
    asked = {"id": file.id, "created_on": file.created_on}
    return await fetch.maybe(conn, attachments_sql.READ_ATTACHMENT, asked, bytes)


async def move_out(conn: Conn, file: LargeFile, *, location: str) -> int:
    """Set the location of a file that was moved; return the number of changed rows."""
    asked = {"id": file.id, "created_on": file.created_on, "location": location}
    return await fetch.run(conn, attachments_sql.MOVE_ATTACHMENT_OUT, asked)
