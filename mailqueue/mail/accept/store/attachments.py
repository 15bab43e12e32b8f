"""SQL that stores uploaded files."""

from dataclasses import asdict, dataclass
from datetime import date
from typing import NamedTuple
from uuid import UUID

from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.refusals import refusals
from mailqueue.db.statements.mail import attachments as sql


@dataclass(frozen=True, slots=True)
class FileToStore:
    """A file to store; `octets` None: it is in attachment storage, `head` are its first bytes."""

    project_id: UUID
    name: str | None
    content_type: str
    sha256: bytes
    size: int
    head: bytes
    octets: bytes | None


class FileReference(NamedTuple):
    """Id by which mails refer to a file, and the day it was stored."""

    id: UUID
    created_on: date


async def keep(conn: Conn, file: FileToStore, *, location: str | None) -> FileReference | None:
    """Store a file or find it; return None where it must be written to attachment storage first.

    Raises:
        InvalidField: the project does not allow it.
    """
    with refusals():
        return await fetch.maybe(
            conn, sql.KEEP_UPLOAD, asdict(file) | {"location": location}, FileReference
        )
