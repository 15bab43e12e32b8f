"""The handler of queue `imports`: read the file of an import, and take its lines."""

import asyncio
import zlib
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from tempfile import TemporaryFile
from typing import BinaryIO, NamedTuple, cast
from uuid import UUID

from mailqueue.contract.background import ImportKind
from mailqueue.contract.suppression import ListEncoding
from mailqueue.core.crashpoints import reach
from mailqueue.core.errors import InvalidField, ProjectFull
from mailqueue.core.outcome import Again, Done, Failed, Outcome
from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.imports import reading, store
from mailqueue.imports.model import OpenImport
from mailqueue.queue.handler import Handler
from mailqueue.settings.environment import DatabaseSettings

LINES_PER_COMMIT: Mapping[ImportKind, int] = {
    ImportKind.CONTACTS: 200,  # each locks a row that other writers of contacts wait for
    ImportKind.SUPPRESSIONS: 5_000,  # each commit inserts an audit event
}
"""Lines that are committed together."""
NO_FILE = "its file is deleted: import it again"
MAX_COMMITS = 250
"""Commits after which an import lets others of the queue go first."""


class ClaimedImport(NamedTuple):
    """A claimed row of imports."""

    id: UUID
    claim_no: int
    project_id: UUID


@dataclass(frozen=True, slots=True)
class ImportEnd:
    """The end of an import: done, cancelled, erased or failed."""

    ending: str
    error: str | None = None


class ImportHandler(Handler[ClaimedImport, ImportEnd]):
    """Takes the lines of imports; some are committed together, with the number of those read."""

    row = ClaimedImport

    def __init__(
        self,
        database: DatabaseSettings,
        *,
        lines_per_commit: Mapping[ImportKind, int] = LINES_PER_COMMIT,
    ) -> None:
        self._link = Link(database, "mailqueue/imports")
        self._lines = lines_per_commit

    async def handle(self, row: ClaimedImport) -> Outcome | ImportEnd:
        found = await self._open(row)
        if found.state != "more":
            return _ending_of(found.state)
        with TemporaryFile() as file:
            opened = cast(BinaryIO, file)
            if not await self._load(row, found.parts, opened):
                return await self._without_file(row)
            kind, encoding = ImportKind(found.kind), ListEncoding(found.encoding)
            lines = reading.lines_of(opened, kind, encoding, found.options)
            with closing(lines):
                try:
                    return await self._take_all(row, found, lines)
                except (InvalidField, ProjectFull) as exc:
                    return ImportEnd("failed", str(exc))

    async def commit(
        self, conn: Conn, done: Sequence[tuple[ClaimedImport, ImportEnd]]
    ) -> list[Outcome]:
        for row, end in done:
            await store.end(conn, row.id, state=end.ending, error=end.error)
        return [_outcome_of(end) for _, end in done]

    async def close(self) -> None:
        await self._link.close()

    async def _open(self, row: ClaimedImport) -> OpenImport:
        return await self._link.call(
            partial(store.open_import, import_id=row.id, claim_no=row.claim_no)
        )

    async def _without_file(self, row: ClaimedImport) -> Outcome | ImportEnd:
        """Return the outcome of an import with a part that is gone."""
        state = (await self._open(row)).state
        return ImportEnd("failed", NO_FILE) if state == "more" else _ending_of(state)

    async def _load(self, row: ClaimedImport, parts: int, file: BinaryIO) -> bool:
        """Write the parts of a file to another; return False if one is gone."""
        for number in range(parts):
            read = partial(store.read_part, import_id=row.id, number=number, claim_no=row.claim_no)
            if (data := await self._link.call(read)) is None:
                return False
            await asyncio.to_thread(_append, file, data)
        file.seek(0)
        return True

    async def _take_all(
        self,
        row: ClaimedImport,
        found: OpenImport,
        lines: Generator[reading.ImportLine, None, None],
    ) -> Outcome | ImportEnd:
        behind, at_once = found.lines_read, self._lines[ImportKind(found.kind)]
        await asyncio.to_thread(reading.skip, lines, behind)
        for _ in range(MAX_COMMITS):
            read = await asyncio.to_thread(
                partial(reading.next_lines, lines, at_once, behind=behind)
            )
            if read is None:
                return ImportEnd("done")
            take = partial(store.take, import_id=row.id, read=read, claim_no=row.claim_no)
            state = await self._link.call(take)
            reach("import.taken")
            if state != "more":
                return _ending_of(state)
            behind = read.to
        return Again(timedelta(0))


def _append(file: BinaryIO, data: bytes) -> None:
    file.write(zlib.decompress(data))


def _ending_of(state: str) -> Outcome | ImportEnd:
    """Return the outcome for a claim that no longer holds, or a file that is gone. Pure."""
    return Again(timedelta(0)) if state == "lost" else ImportEnd(state)


def _outcome_of(end: ImportEnd) -> Outcome:
    if end.ending == "failed":
        return Failed(end.error or "failed")
    return Done("erased" if end.ending == "erased" else None)
