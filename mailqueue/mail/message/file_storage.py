"""Stores attachments in folders and buckets; verifies them when they are written and read."""

import asyncio
import hashlib
import os
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkstemp
from uuid import UUID, uuid4

from mailqueue.core.errors import ConfigError, MailqueueError, Unavailable
from mailqueue.mail.model import FileFault
from mailqueue.ports.filestore import FileMissing, Store

READ_SECONDS = 30.0
"""Limit for reading a file; after it the email waits. Meanwhile it holds a slot."""
DRAFT_PREFIX = "attachment-"
REST_SECONDS = 5.0
"""Time for which a store that failed is not read."""
_RESTORE = "restore it from a backup and requeue the email, or send it again"


class FileDamaged(MailqueueError):
    """A stored file differs from what was written."""


class AttachmentStorage:
    """The stores of attachments: new files go to the first, all are read."""

    def __init__(self, places: Sequence[Store] = (), *, over_bytes: int = 0) -> None:
        self.places = tuple(places)
        self.over_bytes = over_bytes
        self._rests_until: dict[str, float] = {}

    def takes(self, size: int) -> bool:
        """Return whether a file of `size` bytes is stored here rather than in the database."""
        return bool(self.places) and size >= self.over_bytes

    @contextmanager
    def draft(self) -> Iterator[Path]:
        """Yield the path of a temporary file for `put`; it is deleted afterwards."""
        descriptor, name = mkstemp(prefix=DRAFT_PREFIX, dir=self.places[0].drafts)
        os.close(descriptor)
        path = Path(name)
        try:
            yield path
        finally:
            path.unlink(missing_ok=True)

    async def put(self, project_id: UUID, source: Path, *, size: int, sha256: bytes) -> str:
        """Write a file and read it back; return its location, which is never written again.

        Raises:
            Unavailable: the store cannot be written, or returned other bytes.
        """
        store = self.places[0]
        path = f"{project_id}/{sha256.hex()}-{uuid4().hex[:12]}"
        await store.put(path, source)
        try:
            await _read(store, path, size=size, sha256=sha256)
        except (FileMissing, FileDamaged) as exc:
            raise Unavailable(f"{exc}: it was just written") from exc
        return f"{store.url}/{path}"

    async def fetch(self, location: str, *, size: int, sha256: bytes) -> bytes | FileFault:
        """Return the bytes of a file, or a fault that says why it cannot be read."""
        found = self.place_of(location)
        if found is None:
            says = f"{location} is in no store of MAILQUEUE_ATTACHMENT_STORE"
            return FileFault(says, is_lasting=False)
        store, path = found
        if time.monotonic() < self._rests_until.get(store.url, 0.0):
            return FileFault(f"{store.url} was unavailable a few seconds ago", is_lasting=False)
        try:
            async with asyncio.timeout(READ_SECONDS):
                return await _read(store, path, size=size, sha256=sha256)
        except (FileMissing, FileDamaged, ConfigError) as exc:
            return FileFault(f"{exc}: {_RESTORE}", is_lasting=True)
        except (Unavailable, TimeoutError) as exc:
            self._rests_until[store.url] = time.monotonic() + REST_SECONDS
            return FileFault(str(exc) or f"{store.url} is too slow", is_lasting=False)

    def place_of(self, location: str) -> tuple[Store, str] | None:
        """Return the store and the path of a location; None if no configured store has it."""
        for store in self.places:
            if location.startswith(f"{store.url}/"):
                return store, location.removeprefix(f"{store.url}/")
        return None

    async def check(self, location: str, *, size: int, sha256: bytes) -> str | None:
        """Verify a file; return what is wrong with it, or None."""
        found = self.place_of(location)
        if found is None:
            return "no store of MAILQUEUE_ATTACHMENT_STORE has it"
        try:
            await _read(*found, size=size, sha256=sha256)
        except (FileMissing, FileDamaged, ConfigError) as exc:
            return str(exc)
        return None


async def _read(store: Store, path: str, *, size: int, sha256: bytes) -> bytes:
    """Return the bytes of a file after checking size and checksum.

    Raises:
        FileMissing: it does not exist.
        FileDamaged: it has another size or checksum.
        Unavailable: the store cannot be read.
    """
    chunks: list[bytes] = []
    length = 0
    async for chunk in _bounded(store.chunks(path), size):
        chunks.append(chunk)
        length += len(chunk)
    octets = b"".join(chunks)
    if length != size or hashlib.sha256(octets).digest() != sha256:
        raise FileDamaged(
            f"{path} in {store.url} is damaged: its size or checksum differs from what was stored"
        )
    return octets


async def _bounded(chunks: AsyncIterator[bytes], max_bytes: int) -> AsyncIterator[bytes]:
    length = 0
    async for chunk in chunks:
        yield chunk
        length += len(chunk)
        if length > max_bytes:
            return
