"""The handler of queue `exports`: write the file of an export, part by part."""

import asyncio
import zlib
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import NamedTuple
from uuid import UUID

from mailqueue.analytics.exports import store, writing
from mailqueue.analytics.exports.model import ExportPage
from mailqueue.analytics.exports.requests import MAX_STORED_BYTES
from mailqueue.contract.exports import ExportFormat, ExportKind
from mailqueue.core.crashpoints import reach
from mailqueue.core.outcome import Again, Done, Failed, Outcome
from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.queue.handler import Handler
from mailqueue.settings.environment import DatabaseSettings

PAGE_ROWS = 2_000
"""Rows that are read, and written as one part, in one transaction."""
MAX_PAGES = 200
"""Pages after which an export lets others of the queue go first."""
PART_CHARACTERS = 1024 * 1024
"""Characters of what is stored about a person after which a part ends."""
Collect = Callable[[UUID, str, str], AsyncGenerator[Sequence[str]]]
"""Yields lines of JSON about a person, some at a time: of a project, by its name, and an address.
"""
FULL = "the files of the project's exports are as large as they may be together"


class ClaimedExport(NamedTuple):
    """A claimed row of exports."""

    id: UUID
    claim_no: int
    project_id: UUID


@dataclass(frozen=True, slots=True)
class ExportEnd:
    """The end of an export: done, deleted or failed."""

    state: str
    error: str | None = None


class ExportHandler(Handler[ClaimedExport, ExportEnd]):
    """Writes exports; each part is committed with the place up to which it goes."""

    row = ClaimedExport

    def __init__(
        self, database: DatabaseSettings, collect: Collect, *, page_rows: int = PAGE_ROWS
    ) -> None:
        """Prepare; `collect` returns what is stored about a person, in transactions of its own."""
        self._link = Link(database, "mailqueue/exports")
        self._collect = collect
        self._page_rows = page_rows

    async def handle(self, row: ClaimedExport) -> Outcome | ExportEnd:
        step = partial(self._step, row=row)
        for _ in range(MAX_PAGES):
            page = await self._link.call(step)
            state = page.state
            if state == "person":
                state = await self._of_person(row, *page.lines)
            reach("export.written")
            match state:
                case "more":
                    continue
                case "last" | "done":
                    return ExportEnd("done")
                case "deleted":
                    return ExportEnd("deleted")
                case "full":
                    return ExportEnd("failed", FULL)
                case _:
                    break
        return Again(timedelta(0))

    async def commit(
        self, conn: Conn, done: Sequence[tuple[ClaimedExport, ExportEnd]]
    ) -> list[Outcome]:
        for row, end in done:
            await store.end(conn, row.id, state=end.state, error=end.error)
        return [_outcome_of(end) for _, end in done]

    async def close(self) -> None:
        await self._link.close()

    async def _step(self, conn: Conn, *, row: ClaimedExport) -> ExportPage:
        """Write one part; return its page. Safe to repeat: the place is its own.

        Of a person nothing is written but who collects: what is collected before an erasure, which
        resets the place, is not written after it.
        """
        async with conn.transaction():
            page = await self._read(conn, row)
            if page.state == "person":
                place = _place_of(row, 0)
                await store.write_part(conn, row.id, place=place, rows=0, size=0, data=b"")
            elif page.state in ("more", "last"):
                await self._write(conn, row, page, page.lines, page.place)
        return page

    async def _of_person(self, row: ClaimedExport, address: str, project: str) -> str:
        """Write what is stored about a person as it is collected; return the state."""
        number = 0
        async with aclosing(self._collect(row.project_id, project, address)) as collected:
            async for lines in collected:
                reach("export.collected")
                for part in _parts_of(lines, self._page_rows):
                    write = partial(self._write_person, row=row, lines=part, number=number)
                    state = await self._link.call(write)
                    if state != "person":
                        return state
                    number += 1
        return await self._link.call(partial(self._write_person, row=row, lines=(), number=number))

    async def _write_person(
        self, conn: Conn, *, row: ClaimedExport, lines: Sequence[str], number: int
    ) -> str:
        """Write a part about a person, or without lines the end; return the state. Safe to repeat:
        the place has the number of the next part.
        """
        after = _place_of(row, number + 1) if lines else None
        async with conn.transaction():
            page = await self._read(conn, row)
            if page.state != "person":
                return page.state
            if lines and page.place == after:
                return "person"
            if page.place != _place_of(row, number):
                return "more"  # a person was erased meanwhile: collect again
            await self._write(conn, row, page, lines, after)
        return "person" if lines else "last"

    async def _read(self, conn: Conn, row: ClaimedExport) -> ExportPage:
        limit, most = self._page_rows, MAX_STORED_BYTES
        return await store.read_page(
            conn, row.id, claim_no=row.claim_no, limit=limit, max_bytes=most
        )

    async def _write(
        self,
        conn: Conn,
        row: ClaimedExport,
        page: ExportPage,
        lines: Sequence[str],
        place: dict[str, object] | None,
    ) -> None:
        size, data = await asyncio.to_thread(
            _compressed, lines, ExportKind(page.kind), ExportFormat(page.format)
        )
        await store.write_part(conn, row.id, place=place, rows=len(lines), size=size, data=data)


def _place_of(row: ClaimedExport, number: int) -> dict[str, object]:
    """Return the place of an export of a person while a claim collects its next part. Pure."""
    return {"claim": row.claim_no, "part": number}


def _parts_of(lines: Sequence[str], most: int) -> Iterator[Sequence[str]]:
    """Yield lines in parts of at most so many, and of about PART_CHARACTERS. Pure."""
    start, size = 0, 0
    for end, line in enumerate(lines, 1):
        size += len(line)
        if size >= PART_CHARACTERS or end - start >= most or end == len(lines):
            yield lines[start:end]
            start, size = end, 0


def _compressed(lines: Sequence[str], kind: ExportKind, form: ExportFormat) -> tuple[int, bytes]:
    """Return a part of a file compressed, and its size before. Pure."""
    written = writing.part_of(lines, kind, form)
    return len(written), zlib.compress(written) if lines else b""


def _outcome_of(end: ExportEnd) -> Outcome:
    if end.state == "failed":
        return Failed(end.error or "failed")
    return Done(None if end.state == "done" else end.state)
