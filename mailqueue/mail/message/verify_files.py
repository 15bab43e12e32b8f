"""Verifies that stored files match their rows."""

from dataclasses import dataclass

from mailqueue.db.fetch import Conn
from mailqueue.mail.message import store as message_store
from mailqueue.mail.message.file_storage import AttachmentStorage

_SOME = 1000


@dataclass(frozen=True, slots=True)
class Checked:
    """The number of files verified, and a sentence for each that failed."""

    files: int
    faults: tuple[str, ...]


async def check_files(
    conn: Conn, storage: AttachmentStorage, *, max_bytes: int | None = None
) -> Checked:
    """Verify files in the order of their locations, until `max_bytes` were read.

    Raises:
        Unavailable: a store cannot be read.
    """
    count, read, after = 0, 0, ""
    faults: list[str] = []
    while some := await message_store.list_stored(conn, after=after, limit=_SOME):
        for one in some:
            if max_bytes is not None and read > max_bytes:
                return Checked(count, tuple(faults))
            fault = await storage.check(one.location, size=one.bytes, sha256=one.sha256)
            if fault is not None:
                faults.append(f"{one.location} of project {one.project}: {fault}")
            count += 1
            read += one.bytes
            after = one.location
    return Checked(count, tuple(faults))
