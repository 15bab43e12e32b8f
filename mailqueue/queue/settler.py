"""Settles handled rows, many in one commit; keeps outcomes while the database is away."""

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Generic

from mailqueue.core.crashpoints import reach
from mailqueue.core.outcome import OUTCOMES, Failed, Outcome, Retry
from mailqueue.core.queues.model import QueueSpec
from mailqueue.db.faults import concerns_rows
from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.queue import store
from mailqueue.queue.failures import reason_of
from mailqueue.queue.handler import Handler, Settled, Work
from mailqueue.queue.in_progress import InProgress
from mailqueue.queue.rows import Row
from mailqueue.queue.waiting import Handled, next_group
from mailqueue.telemetry.log import get_logger
from mailqueue.telemetry.metrics.declared import QUEUE_OUTCOMES
from mailqueue.telemetry.metrics.memory import MEMORY

MAX_GROUP = 500
"""Room of one commit: rows, or the sizes that their work names."""
LINGER_SECONDS = 0.01
"""Wait of an outcome for others that share its commit."""
RETRY_SECONDS = 30.0
"""Time for which a refused write is tried again, such as while a table is altered by hand."""
MAX_UNSETTLED = 2000
"""Outcomes of a worker that wait for the database, above which nothing is claimed."""

log = get_logger(__name__)


class Settler(Generic[Row, Work]):
    """The writer of one queue in one process."""

    def __init__(
        self,
        link: Link,
        spec: QueueSpec,
        handler: Handler[Row, Work],
        in_progress: InProgress,
        *,
        written: Callable[[Sequence[Row], Mapping[str, str]], None],
    ) -> None:
        """Prepare; `written` is called with the rows that a commit settled, and with the keys whose
        waiting rows return to the queue.
        """
        self._link = link
        self._spec = spec
        self._handler = handler
        self._in_progress = in_progress
        self._written = written
        self._waiting = defaultdict[object, deque[Handled[Row, Work]]](deque)
        self.unwritten = 0
        """Number of results that are not written yet."""
        self._is_due, self._is_full, self._is_idle = (
            asyncio.Event(),
            asyncio.Event(),
            asyncio.Event(),
        )
        self._is_idle.set()

    def settle(self, row: Row, result: Outcome | Work, size: int = 1) -> None:
        """Queue the result of a row to be written; `size` is its part of a commit's room."""
        # Without a key, in the order in which they ended.
        key = None if self._spec.key is None else getattr(row, self._spec.key)
        self._waiting[key].append(Handled(row, result, size))
        self.unwritten += 1
        self._is_idle.clear()
        self._is_due.set()
        if self.unwritten >= MAX_GROUP:
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
            group = next_group(self._waiting, MAX_GROUP)
            self.unwritten -= len(group)
            if self.unwritten < MAX_GROUP:
                self._is_full.clear()
            await self._write(group, seconds=RETRY_SECONDS)
            if not self.unwritten:
                self._is_due.clear()
                self._is_idle.set()

    async def _write(self, group: Sequence[Handled[Row, Work]], *, seconds: float) -> None:
        """Write a group; where it is refused for `seconds`, each of its rows alone."""
        reach(f"{self._spec.name}.settling")
        try:
            settled = await self._link.call_with_retries(
                partial(self._settled, group=group), seconds=seconds
            )
        except Exception as exc:
            if len(group) == 1:
                await self._write_failure(group[0], exc)
                return
            for one in group:
                await self._write([one], seconds=0)
            return
        reach(f"{self._spec.name}.settled")
        for one in group:
            is_outcome = isinstance(one.result, OUTCOMES)
            word = type(one.result).__name__.lower() if is_outcome else "work"
            MEMORY.record(QUEUE_OUTCOMES, 1, self._spec.name, word)
        if settled.lost:
            # Another worker has claimed them since, or our commit was not acknowledged.
            log.warning("queue.lost", queue=self._spec.name, count=len(settled.lost))
        self._written([one.row for one in group], settled.blocked)

    async def _settled(self, conn: Conn, group: Sequence[Handled[Row, Work]]) -> Settled[Row]:
        """Write the work and the outcomes of a group in one transaction."""
        outcomes = [(row, result) for row, result, _ in group if isinstance(result, OUTCOMES)]
        works = [(row, result) for row, result, _ in group if not isinstance(result, OUTCOMES)]
        # A process that dies meanwhile was stopped by one of them.
        begin = partial(self._in_progress.begin, self._spec.name, is_timed=False)
        slots = [begin(one.row.id, one.row.claim_no) for one in group]
        try:
            return await self._handler.settle(conn, self._spec, outcomes, works)
        finally:
            for slot in slots:
                self._in_progress.end(slot)

    async def _write_failure(self, one: Handled[Row, Work], fault: Exception) -> None:
        """Write that a row's result could not be written; where that is refused, fail the row."""
        self._report(one)
        ways: list[Outcome] = [Failed("its result cannot be written")]
        if not isinstance(one.result, Failed) or one.result.values:
            ways.insert(0, Retry(f"its result cannot be written: {reason_of(fault)}"))
        for way in ways:
            try:
                await self._link.call_with_retries(
                    partial(store.settle, spec=self._spec, ended=[(one.row, way)]),
                    seconds=RETRY_SECONDS,
                )
                break
            except Exception as exc:  # where no write is accepted, its lease ends
                if not concerns_rows(exc):
                    raise
                self._report(one)
        self._written([one.row], {})

    def _report(self, one: Handled[Row, Work]) -> None:
        with suppress(Exception):  # the class of the error is of a library, and may not be shown
            log.exception("queue.not_settled", queue=self._spec.name, row=str(one.row.id))
