"""The handler of queue `exports`: write the file of an export, part by part."""

import asyncio
import zlib
from collections.abc import Awaitable, Callable, Sequence
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
Collect = Callable[[UUID, str, str], Awaitable[Sequence[str]]]
"""Returns lines of JSON about a person: of a project, by its name, and an address."""
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
                address, project = page.lines
                lines = await self._collect(row.project_id, project, address)
                reach("export.collected")
                state = await self._link.call(partial(self._write_person, row=row, lines=lines))
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
                place = _place_of(row)
                await store.write_part(conn, row.id, place=place, rows=0, size=0, data=b"")
            elif page.state in ("more", "last"):
                await self._write(conn, row, page, page.lines, page.place)
        return page

    async def _write_person(self, conn: Conn, *, row: ClaimedExport, lines: Sequence[str]) -> str:
        """Write what was collected about a person; return the state. Safe to repeat."""
        place = _place_of(row)
        async with conn.transaction():
            page = await self._read(conn, row)
            if page.state != "person":
                return page.state
            if page.place != place:
                return "more"  # a person was erased meanwhile: collect again
            for start in range(0, len(lines), self._page_rows):
                some = lines[start : start + self._page_rows]
                await self._write(conn, row, page, some, place)
            await store.write_part(conn, row.id, place=None, rows=0, size=0, data=b"")
        return "last"

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


def _place_of(row: ClaimedExport) -> dict[str, object]:
    """Return the place of an export of a person while a claim collects. Pure."""
    return {"claim": row.claim_no}


def _compressed(lines: Sequence[str], kind: ExportKind, form: ExportFormat) -> tuple[int, bytes]:
    """Return a part of a file compressed, and its size before. Pure."""
    written = writing.part_of(lines, kind, form)
    return len(written), zlib.compress(written) if lines else b""


def _outcome_of(end: ExportEnd) -> Outcome:
    if end.state == "failed":
        return Failed(end.error or "failed")
    return Done(None if end.state == "done" else end.state)
