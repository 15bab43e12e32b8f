"""SQL of attachments in folders and buckets."""

from datetime import date
from typing import NamedTuple
from uuid import UUID

from mailqueue.db import fetch
from mailqueue.db.fetch import Conn


class LargeFile(NamedTuple):
    """A file in the database that is large enough for a folder or bucket."""

    id: UUID
    created_on: date
    project_id: UUID
    bytes: int


async def sweep(conn: Conn) -> int:
    """Delete files that no mail uses and whose retention is over; return their number."""
    return await fetch.value(conn, "sweep_stored_files", None, int)


async def sweep_batches(conn: Conn) -> int:
    """Delete batches whose mails are archived; return their number."""
    return await fetch.value(conn, "sweep_batches", None, int)


async def sweep_inline_servers(conn: Conn) -> int:
    """Delete servers whose mail is finished, held or expired; return their number."""
    return await fetch.value(conn, "sweep_inline_servers", None, int)


async def sweep_tracked_links(conn: Conn) -> int:
    """Delete a batch of links that no recent mail has; return their number."""
    return await fetch.value(conn, "sweep_tracked_links", None, int)


async def list_projects(conn: Conn) -> list[UUID]:
    """Return the ids of all projects."""
    return await fetch.many(conn, "list_project_ids", None, UUID)


async def known(conn: Conn, locations: list[str]) -> set[str]:
    """Return those of the locations that a file row names."""
    if not locations:
        return set()
    return set(await fetch.many(conn, "list_known_locations", {"locations": locations}, str))


async def list_large(conn: Conn, over: int, *, after: LargeFile | None) -> list[LargeFile]:
    """Return files in the database of at least `over` bytes, after the id `after`."""
    asked = {
        "over": over,
        "after_day": after.created_on if after else date.min,
        "after": after.id if after else UUID(int=0),
    }
    return await fetch.many(conn, "list_large_attachments", asked, LargeFile)


async def read_octets(conn: Conn, file: LargeFile) -> bytes | None:
    """Return the bytes of a file in the database."""
    asked = {"id": file.id, "created_on": file.created_on}
    return await fetch.maybe(conn, "read_attachment", asked, bytes)


async def move_out(conn: Conn, file: LargeFile, *, location: str) -> int:
    """Set the location of a file that was moved; return the number of changed rows."""
    asked = {"id": file.id, "created_on": file.created_on, "location": location}
    return await fetch.run(conn, "move_attachment_out", asked)
