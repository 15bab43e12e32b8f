"""The statements that keep files for mails to come."""

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
    """A file to be kept; `octets` None: it lies elsewhere, `head` is how it begins."""

    project_id: UUID
    name: str | None
    content_type: str
    sha256: bytes
    size: int
    head: bytes
    octets: bytes | None


class Kept(NamedTuple):
    """What mails refer to a file by, and the day it is kept since."""

    id: UUID
    created_on: date


class Filed(NamedTuple):
    """A file in a folder or bucket, and what it has to be."""

    location: str
    sha256: bytes
    project: str
    bytes: int


async def keep(conn: Conn, asked: Asked, *, location: str | None) -> Kept | None:
    """Keep a file or find it; None where it has to be written to its place first.

    Raises:
        InvalidField: the project does not allow it.
    """
    with refusals():
        return await fetch.maybe(conn, "keep_upload", asdict(asked) | {"location": location}, Kept)


async def files_of(
    conn: Conn, project_id: UUID, ids: list[UUID], *, days: list[date]
) -> list[StoredFile]:
    """Read files of a project by id; `days` are the days they were stored on."""
    asked = {"project_id": project_id, "ids": ids, "days": days}
    return await fetch.many(conn, "files_of", asked, StoredFile)


async def list_stored(conn: Conn, *, after: str, most: int) -> list[Filed]:
    """List files in folders and buckets whose place comes after that one."""
    return await fetch.many(conn, "list_stored_files", {"after": after, "most": most}, Filed)
