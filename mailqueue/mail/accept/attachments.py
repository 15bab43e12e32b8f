"""Keeps files for mails to come: small ones as rows, large ones where the shelf has its place."""

import hashlib
from base64 import b64decode
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from mailqueue.core.errors import Unavailable
from mailqueue.db.fetch import Conn
from mailqueue.mail.accept.store import attachments as attachments_store
from mailqueue.mail.accept.store.attachments import Kept
from mailqueue.mail.message.file_storage import AttachmentStorage

Lend = Callable[[], AbstractAsyncContextManager[Conn]]
HEAD_BYTES = 1024
"""By so many octets it is told what a file is."""


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file as it came; `name` None: each mail that carries it gives one."""

    name: str | None
    content_type: str
    octets: bytes


async def keep(lend: Lend, shelf: AttachmentStorage, *, project_id: UUID, file: NewFile) -> Kept:
    """Keep a file, or find it where the project has the same one; return what mails refer to.

    `lend` gives a connection; none is held while a file is written elsewhere. A file that was
    written and is named by nobody, for want of power or of this process, is deleted by maintenance.

    Raises:
        InvalidField: the project does not allow it, or its octets show another type.
        Unavailable: its place is away.
    """
    size, sha256 = len(file.octets), hashlib.sha256(file.octets).digest()
    is_elsewhere = shelf.takes(size)
    asked = attachments_store.Asked(
        project_id=project_id,
        name=file.name,
        content_type=file.content_type.strip().lower(),
        sha256=sha256,
        size=size,
        head=file.octets[:HEAD_BYTES],
        octets=None if is_elsewhere else file.octets,
    )
    async with lend() as conn:
        kept = await attachments_store.keep(conn, asked, location=None)
    if kept is not None:
        return kept
    with shelf.draft() as path:
        path.write_bytes(file.octets)
        location = await shelf.put(project_id, path, size=size, sha256=sha256)
    async with lend() as conn:
        kept = await attachments_store.keep(conn, asked, location=location)
    if kept is None:
        raise Unavailable("the file was not kept: hand it in again")
    return kept


async def shelved(
    lend: Lend, shelf: AttachmentStorage, files: Sequence[Any], *, project_id: UUID
) -> list[Any]:
    """Return the files of a mail with those kept that are too large for rows; the rest as it came.

    What is wrong with a file is left for the rules of mail to say.

    Raises:
        InvalidField, Unavailable: as `keep` does.
    """
    return [await _shelved(lend, shelf, one, project_id=project_id) for one in files]


async def _shelved(lend: Lend, shelf: AttachmentStorage, given: Any, *, project_id: UUID) -> Any:
    match given:
        case {"filename": str(), "content_type": str(declared), "content": str(content)}:
            pass
        case _:
            return given
    octets = _decoded(content) if shelf.takes(len(content) * 3 // 4) else None
    if octets is None or "id" in given:
        return given
    kept = await keep(lend, shelf, project_id=project_id, file=NewFile(None, declared, octets))
    rest = {name: value for name, value in given.items() if name not in ("content", "content_type")}
    return {**rest, "id": str(kept.id)}


def _decoded(content: str) -> bytes | None:
    try:
        return b64decode("".join(content.split()), validate=True)
    except ValueError:
        return None
