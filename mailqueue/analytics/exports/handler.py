"""The handler of queue `exports`: write the file of an export, part by part."""

import asyncio
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import NamedTuple
from uuid import UUID

from mailqueue.analytics.exports import store, writing
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

    def __init__(self, database: DatabaseSettings, *, page_rows: int = PAGE_ROWS) -> None:
        self._link = Link(database, "mailqueue/exports")
        self._page_rows = page_rows

    async def handle(self, row: ClaimedExport) -> Outcome | ExportEnd:
        step = partial(self._step, row=row)
        for _ in range(MAX_PAGES):
            state = await self._link.call(step)
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

    async def _step(self, conn: Conn, *, row: ClaimedExport) -> str:
        """Write one part; return the state of its page. Safe to repeat: the place is its own."""
        async with conn.transaction():
            page = await store.read_page(
                conn,
                row.id,
                claim_no=row.claim_no,
                limit=self._page_rows,
                max_bytes=MAX_STORED_BYTES,
            )
            if page.state not in ("more", "last"):
                return page.state
            size, data = await asyncio.to_thread(
                _compressed, page.lines, ExportKind(page.kind), ExportFormat(page.format)
            )
            await store.write_part(
                conn, row.id, place=page.place, rows=len(page.lines), size=size, data=data
            )
        return page.state


def _compressed(lines: Sequence[str], kind: ExportKind, form: ExportFormat) -> tuple[int, bytes]:
    """Return a part of a file compressed, and its size before. Pure."""
    written = writing.part_of(lines, kind, form)
    return len(written), zlib.compress(written) if lines else b""


def _outcome_of(end: ExportEnd) -> Outcome:
    if end.state == "failed":
        return Failed(end.error or "failed")
    return Done(None if end.state == "done" else end.state)
