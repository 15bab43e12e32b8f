"""Store uploaded files: small ones as rows, large ones in attachment storage."""

import hashlib
from base64 import b64decode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from mailqueue.core.errors import Unavailable
from mailqueue.db.fetch import Lend
from mailqueue.mail.accept.store import attachments as attachments_store
from mailqueue.mail.accept.store.attachments import FileReference
from mailqueue.mail.message.file_storage import AttachmentStorage

HEAD_BYTES = 1024
"""Bytes at the start of a file by which its type is recognized."""


@dataclass(frozen=True, slots=True)
class NewFile:
    """An uploaded file; `name` None: each mail that carries it names it."""

    name: str | None
    content_type: str
    octets: bytes


async def keep(
    lend: Lend, storage: AttachmentStorage, *, project_id: UUID, file: NewFile
) -> FileReference:
    """Store a file, or find the same one in the project; return the reference for mails.

    `lend` lends a connection; none is held while a file is written elsewhere. If the process stops
    after writing the file, maintenance deletes it.

    Raises:
        InvalidField: the project does not allow it, or its content is of another type.
        Unavailable: its storage is unavailable.
    """
    size, sha256 = len(file.octets), hashlib.sha256(file.octets).digest()
    is_elsewhere = storage.takes(size)
    asked = attachments_store.FileToStore(
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
    with storage.draft() as path:
        path.write_bytes(file.octets)
        location = await storage.put(project_id, path, size=size, sha256=sha256)
    async with lend() as conn:
        kept = await attachments_store.keep(conn, asked, location=location)
    if kept is None:
        raise Unavailable("the file was not stored: upload it again")
    return kept


async def store_large(
    lend: Lend, storage: AttachmentStorage, files: Sequence[Any], *, project_id: UUID
) -> list[Any]:
    """Return the files of a mail; those too large for rows are stored and replaced by references.

    Invalid files are returned unchanged: SQL refuses them with the mail.

    Raises:
        InvalidField, Unavailable: as `keep` does.
    """
    return [await _shelved(lend, storage, one, project_id=project_id) for one in files]


async def _shelved(
    lend: Lend, storage: AttachmentStorage, attachment: Any, *, project_id: UUID
) -> Any:
    match attachment:
        case {"filename": str(), "content_type": str(declared), "content": str(content)}:
            pass
        case _:
            return attachment
    octets = _decoded(content) if storage.takes(len(content) * 3 // 4) else None
    if octets is None or "id" in attachment:
        return attachment
    kept = await keep(lend, storage, project_id=project_id, file=NewFile(None, declared, octets))
    rest = {
        name: value for name, value in attachment.items() if name not in ("content", "content_type")
    }
    return {**rest, "id": str(kept.id)}


def _decoded(content: str) -> bytes | None:
    try:
        return b64decode("".join(content.split()), validate=True)
    except ValueError:
        return None
