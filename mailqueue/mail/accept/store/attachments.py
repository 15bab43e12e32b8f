"""SQL that stores uploaded files."""

from dataclasses import asdict, dataclass
from datetime import date
from typing import NamedTuple
from uuid import UUID

from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.mail.accept.store.enqueue import refusals
from mailqueue.mail.model import StoredFile


@dataclass(frozen=True, slots=True)
class Asked:
    """A file to store; `octets` None: it is in attachment storage, `head` are its first bytes."""

    project_id: UUID
    name: str | None
    content_type: str
    sha256: bytes
    size: int
    head: bytes
    octets: bytes | None


class Kept(NamedTuple):
    """Id by which mails refer to a file, and the day it was stored."""

    id: UUID
    created_on: date


class Filed(NamedTuple):
    """A file in a folder or bucket, with its size and checksum."""

    location: str
    sha256: bytes
    project: str
    bytes: int


async def keep(conn: Conn, asked: Asked, *, location: str | None) -> Kept | None:
    """Store a file or find it; return None where it must be written to attachment storage first.

    Raises:
        InvalidField: the project does not allow it.
    """
    with refusals():
        return await fetch.maybe(conn, "keep_upload", asdict(asked) | {"location": location}, Kept)


async def files_of(
    conn: Conn, project_id: UUID, ids: list[UUID], *, days: list[date]
) -> list[StoredFile]:
    """Return files of a project by id; `days` are the days they were stored on."""
    asked = {"project_id": project_id, "ids": ids, "days": days}
    return await fetch.many(conn, "files_of", asked, StoredFile)


async def list_stored(conn: Conn, *, after: str, most: int) -> list[Filed]:
    """Return files in folders and buckets after the location `after`."""
    return await fetch.many(conn, "list_stored_files", {"after": after, "most": most}, Filed)
