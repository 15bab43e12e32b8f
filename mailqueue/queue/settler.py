"""Settles handled rows, many in one commit; keeps outcomes while the database is away."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Generic, NamedTuple
from uuid import UUID

from mailqueue.core.crashpoints import reach
from mailqueue.core.errors import MailqueueError
from mailqueue.core.outcome import OUTCOMES, Failed, Outcome, Retry
from mailqueue.core.queues import QueueSpec
from mailqueue.db.faults import concerns_rows
from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.queue import store
from mailqueue.queue.handler import Handler, Row, Work
from mailqueue.telemetry.log import get_logger

MAX_GROUP = 500
"""Room of one commit, in rows or what `Handler.size` counts."""
LINGER_SECONDS = 0.01
"""Wait of an outcome for others that share its commit."""
RETRY_SECONDS = 30.0
"""Time for which a refused write is tried again, such as while a table is altered by hand."""

log = get_logger(__name__)


class Handled(NamedTuple, Generic[Row, Work]):
    """A row and the result of its handler."""

    row: Row
    result: Outcome | Work


class Settler(Generic[Row, Work]):
    """The writer of one queue in one process."""

    def __init__(
        self,
        link: Link,
        spec: QueueSpec,
        handler: Handler[Row, Work],
        *,
        written: Callable[[Sequence[Row]], None],
    ) -> None:
        """Prepare; `written` is called with the rows that a commit settled."""
        self._link = link
        self._spec = spec
        self._handler = handler
        self._written = written
        self._waiting: deque[Handled[Row, Work]] = deque()
        self._is_due, self._is_full, self._is_idle = (
            asyncio.Event(),
            asyncio.Event(),
            asyncio.Event(),
        )
        self._is_idle.set()

    def __len__(self) -> int:
        return len(self._waiting)

    def settle(self, row: Row, result: Outcome | Work) -> None:
        """Queue the result of a row to be written."""
        self._waiting.append(Handled(row, result))
        self._is_idle.clear()
        self._is_due.set()
        if len(self._waiting) >= MAX_GROUP:
            self._is_full.set()

    async def drained(self) -> None:
        """Wait until every result is written."""
        await self._is_idle.wait()

    async def run(self) -> None:
        """Write until cancelled."""
        while True:
            await self._is_due.wait()
            with suppress(TimeoutError):
                async with asyncio.timeout(LINGER_SECONDS):
                    await self._is_full.wait()
            await self._write(self._next_group())
            if not self._waiting:
                self._is_due.clear()
                self._is_idle.set()

    def _next_group(self) -> list[Handled[Row, Work]]:
        group, size, ids = list[Handled[Row, Work]](), 0, set[UUID]()
        while self._waiting:
            size += self._size(self._waiting[0])
            if group and (size > MAX_GROUP or self._waiting[0].row.id in ids):
                break
            group.append(self._waiting.popleft())
            ids.add(group[-1].row.id)
        if len(self._waiting) < MAX_GROUP:
            self._is_full.clear()
        return group

    def _size(self, one: Handled[Row, Work]) -> int:
        return 1 if isinstance(one.result, OUTCOMES) else self._handler.size(one.result)

    async def _write(self, group: Sequence[Handled[Row, Work]]) -> None:
        """Write a group; where its data is refused, each of its rows alone."""
        reach(f"{self._spec.name}.settling")
        try:
            ended = await self._link.insist(
                lambda conn: self._settled(conn, group), seconds=RETRY_SECONDS
            )
        except Exception as exc:
            if not concerns_rows(exc) and not isinstance(exc, MailqueueError):
                raise
            if len(group) > 1:
                for one in group:
                    await self._write([one])
                return
            await self._write_failure(group[0], exc)
            return
        reach(f"{self._spec.name}.settled")
        try:  # it may release a key before more of its rows are started
            self._handler.committed(ended)
        except Exception:  # what is durable stays so
            log.exception("queue.committed_failed", queue=self._spec.name)
        self._written([one.row for one in group])

    async def _write_failure(self, one: Handled[Row, Work], fault: Exception) -> None:
        """Write that a row's result could not be written."""
        log.exception("queue.not_settled", queue=self._spec.name, row=str(one.row.id))
        why = f"its result cannot be written: {type(fault).__name__}: {fault}"
        is_last = isinstance(one.result, Failed) and not one.result.values
        outcome = Failed("its result cannot be written") if is_last else Retry(why)
        await self._link.insist(
            lambda conn: store.settle(conn, self._spec, [(one.row, outcome)]), seconds=RETRY_SECONDS
        )
        self._written([one.row])
        self._handler.committed([(one.row, outcome)])

    async def _settled(
        self, conn: Conn, group: Sequence[Handled[Row, Work]]
    ) -> list[tuple[Row, Outcome]]:
        """Write the work and the outcomes of a group in one transaction; return the outcomes."""
        outcomes = [(row, result) for row, result in group if isinstance(result, OUTCOMES)]
        works = [(row, result) for row, result in group if not isinstance(result, OUTCOMES)]
        ended, lost = await self._handler.settle(conn, outcomes, works) or (
            await self._committed(conn, outcomes, works)
            if works
            else (outcomes, await store.settle(conn, self._spec, outcomes))
        )
        if lost:
            # Another worker has claimed them since, or our commit was not acknowledged.
            log.warning("queue.lost", queue=self._spec.name, count=len(lost))
        return [(row, outcome) for row, outcome in ended if row.id not in lost]

    async def _committed(
        self,
        conn: Conn,
        outcomes: Sequence[tuple[Row, Outcome]],
        works: Sequence[tuple[Row, Work]],
    ) -> tuple[list[tuple[Row, Outcome]], set[UUID]]:
        """Write works and outcomes; return the outcomes, and the ids whose claim is lost.

        Lost claims are seldom and show when rows are settled; then the work is undone and written
        again without theirs, so that no statement has to ask before.
        """
        lost = set[UUID]()
        while True:
            ours = [(row, work) for row, work in works if row.id not in lost]
            async with conn.transaction():
                if lost:
                    theirs = [(row, work) for row, work in works if row.id in lost]
                    await self._handler.commit_lost(conn, theirs)
                written = await self._handler.commit(conn, ours) if ours else []
                ended = [*outcomes, *zip((row for row, _ in ours), written, strict=True)]
                found = await store.settle(conn, self._spec, ended)
                if found.isdisjoint(row.id for row, _ in ours):
                    return ended, lost | found
                lost |= found
                raise store.Undo
