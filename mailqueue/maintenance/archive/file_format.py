"""The format of archive files: gzip, one JSON object per line, a header in the first line."""

import gzip
import hashlib
import json
import os
import tempfile
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mailqueue.core.json.reading import read_exactly
from mailqueue.maintenance.model import (
    TABLE_BY_KIND,
    TIME_BY_TABLE,
    Archive,
    ArchiveBroken,
    RecordKind,
)
from mailqueue.ports.filestore import Store

FORMAT = "mailqueue archive 1"


class Record:
    """One record: the line exactly as PostgreSQL wrote it, and its fields."""

    __slots__ = ("_fields", "line")

    def __init__(self, line: bytes) -> None:
        self.line = line
        self._fields: dict[str, Any] | None = None

    @property
    def fields(self) -> dict[str, Any]:
        """Return the parsed line; only few callers need it."""
        if self._fields is None:
            # Custom data may hold numbers of any size; decimals are kept as text.
            try:
                self._fields = json.loads(self.line, parse_float=str)
            except (ValueError, RecursionError):  # deeper or larger than what is accepted today
                self._fields = read_exactly(self.line)
        assert self._fields is not None
        return self._fields


@dataclass(frozen=True, slots=True)
class FileDraft:
    """A complete file that is in no store yet; times are those of its records, as text."""

    path: Path
    records: int
    bytes: int
    sha256: str
    first_at: str | None
    last_at: str | None


@dataclass(frozen=True, slots=True)
class ReadBack:
    """Counts, times and hash of a whole file that was read."""

    records: int
    bytes: int
    sha256: str


@contextmanager
def drafting(store: Store) -> Iterator[Path]:
    """Yield a path for a draft, chosen by the store; the draft is deleted afterwards."""
    descriptor, name = tempfile.mkstemp(prefix="mailqueue-", suffix=".jsonl.gz", dir=store.drafts)
    os.close(descriptor)
    path = Path(name)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def forget_drafts(store: Store) -> None:
    """Delete drafts of a killed run. The caller holds the lock, so no process writes one now."""
    if store.drafts is not None:
        for path in store.drafts.glob("mailqueue-*"):
            path.unlink(missing_ok=True)


async def write(path: Path, archive: Archive, records: AsyncIterator[Record]) -> FileDraft:
    """Write a file of these records, in their order."""
    time = time_field(archive.kind)
    count, first, last = 0, None, None
    with path.open("wb") as file, gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
        packed.write(_header(archive) + b"\n")
        async for record in records:
            packed.write(record.line + b"\n")
            count += 1
            at = str(record.fields[time])
            first = at if first is None or at < first else first
            last = at if last is None or at > last else last
    return FileDraft(path, count, *_measured(path), first, last)


async def read_back(store: Store, archive: Archive) -> ReadBack:
    """Read a whole file, to the last record.

    Raises:
        ArchiveBroken: it is not a file of that archive.
        FileMissing: it does not exist.
    """
    return await read_back_at(store, archive.path, archive)


async def read_back_at(store: Store, path: str, archive: Archive) -> ReadBack:
    """Read a draft that will become that archive's file."""
    chunks = _Measured(store.chunks(path))
    count = 0
    async for _ in _records(chunks.all(), archive):
        count += 1
    return ReadBack(count, chunks.bytes, chunks.sha256)


def records(store: Store, archive: Archive) -> AsyncIterator[Record]:
    """Yield the records of a file, in order, without those of a truncated end.

    Raises:
        ArchiveBroken: it is not a file of that archive, or it is damaged; some records may have
            been yielded.
        FileMissing: it does not exist.
    """
    return _records(store.chunks(archive.path), archive)


def time_field(kind: str) -> str:
    """Return the name of the field whose time decides a record's month."""
    return TIME_BY_TABLE[TABLE_BY_KIND[RecordKind(kind)]]


def _header(archive: Archive) -> bytes:
    return json.dumps(
        {
            "format": FORMAT,
            "kind": archive.kind,
            "project_id": str(archive.project_id),
            "month": f"{archive.month:%Y-%m}",
            "part": archive.part,
        }
    ).encode()


async def _records(chunks: AsyncIterator[bytes], archive: Archive) -> AsyncIterator[Record]:
    lines = _lines(chunks, archive)
    if await anext(lines, None) != _header(archive):
        raise ArchiveBroken(f"{archive.name} has the header of another file")
    async for line in lines:
        yield Record(line)


async def _lines(chunks: AsyncIterator[bytes], archive: Archive) -> AsyncIterator[bytes]:
    unpacker = zlib.decompressobj(wbits=31)
    rest = b""
    try:
        async for chunk in chunks:
            *whole, rest = (rest + unpacker.decompress(chunk)).split(b"\n")
            for line in whole:
                yield line
    except zlib.error as exc:
        raise ArchiveBroken(f"{archive.name} is damaged: {exc}") from exc
    if rest or not unpacker.eof or unpacker.unused_data:
        raise ArchiveBroken(f"{archive.name} is damaged: the file is truncated")


class _Measured:
    """Counts and hashes chunks while they are read."""

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self._chunks = chunks
        self._hash = hashlib.sha256()
        self.bytes = 0

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()

    async def all(self) -> AsyncIterator[bytes]:
        async for chunk in self._chunks:
            self._hash.update(chunk)
            self.bytes += len(chunk)
            yield chunk


def _measured(path: Path) -> tuple[int, str]:
    with path.open("rb") as file:
        return path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest()
