"""The worker of one queue: claim, handle, settle.

claim     due rows are taken under a claim number            store.py, functions/queue
handle    the kind's handler, as slots allow                 handler.py, concurrency.py
settle    outcomes are written, many in one commit           settler.py

A row that cannot be read, handled or settled is that row's outcome; the others go on. `process.py`
runs the workers of several queues in one process.
"""

import asyncio
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Generic, cast

from mailqueue.core.crashpoints import reach
from mailqueue.core.errors import LeaseLost, MailqueueError
from mailqueue.core.outcome import Defer, Outcome, Retry
from mailqueue.core.queues import QueueSpec
from mailqueue.db.faults import concerns_rows
from mailqueue.db.link import Link
from mailqueue.queue import store
from mailqueue.queue.concurrency import FIRST_ROWS, WAITING_PER_ROW, Dispatcher
from mailqueue.queue.handler import Handler, Row, Work
from mailqueue.queue.in_progress import EXIT_OUT_OF_MEMORY, InProgress
from mailqueue.queue.settler import Settler
from mailqueue.queue.tasks import cancelled
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.telemetry.log import get_logger

MAX_UNSETTLED = 2000
"""Outcomes that wait for the database, above which nothing is claimed."""
CLAIM_SECONDS = 0.01
"""Wait for others of keys that have room for more rows, so that they share a claim."""
REST_SECONDS = 5.0
"""Interval at which idle keys and connections are released."""
TURN_SECONDS = 0.005
"""Interval at which `turn_to_end` looks whether rows still wait."""
DRAIN_SECONDS = 30.0
"""Time for rows that are being handled when the worker stops."""

log = get_logger(__name__)


class QueueWorker(Generic[Row, Work]):
    """Works on one queue until told to stop."""

    def __init__(
        self,
        database: DatabaseSettings,
        spec: QueueSpec,
        handler: Handler[Row, Work],
        in_progress: InProgress,
        *,
        is_alone: bool = False,
        until_idle: bool = False,
    ) -> None:
        """Prepare; `is_alone`: the rows are those whose worker stopped before, one by one.

        Then, and with `until_idle`, the worker stops when nothing is due.
        """
        self.spec = spec
        self._handler = handler
        self._in_progress = in_progress
        self._is_alone = is_alone
        self._until_idle = until_idle or is_alone
        self._claims = Link(database, f"mailqueue/{spec.name}")
        self._writes = Link(database, f"mailqueue/{spec.name}-settle")
        self._settler = Settler(self._writes, spec, handler, written=self._written)
        self._held: dict[object, tuple[Row, float]] = {}  # rows of which a claim of ours holds
        self._room = asyncio.Event()
        self._is_registered: Callable[[], bool] = lambda: True
        handler.release_key = self._release_key
        lease = spec.lease.total_seconds()
        self._dispatcher = Dispatcher(
            1 if is_alone else spec.concurrency,
            self._handle,
            key_of=self._key_of if spec.key is not None and not is_alone else None,
            expired=lambda row: self._settle(row, Defer()),
            max_wait=lease / 2,
            freed=self._freed,
        )

    async def run(
        self,
        stop: asyncio.Event,
        worker: int,
        *,
        is_registered: Callable[[], bool] = lambda: True,
    ) -> None:
        """Work until `stop` is set, then finish what is being handled.

        While `is_registered` is false no row is started: another worker may have claimed it.

        Raises:
            LeaseLost: the worker was declared lost.
        """
        self._is_registered = is_registered
        loops = [
            asyncio.create_task(loop, name=f"{self.spec.name}-{name}")
            for name, loop in (
                ("claim", self._claim_forever(worker)),
                ("settle", self._settler.run()),
                ("renew", self._renew_forever()),
                ("rest", self._rest_forever()),
            )
        ]
        stopping = asyncio.create_task(stop.wait())
        try:
            ended, _ = await asyncio.wait((stopping, *loops), return_when=asyncio.FIRST_COMPLETED)
            await cancelled(loops[0])
            is_lost = any(isinstance(task.exception(), LeaseLost) for task in ended)
            if not is_lost and not loops[1].done():  # else nothing can be settled
                with suppress(TimeoutError):
                    async with asyncio.timeout(DRAIN_SECONDS):
                        await self._drain()
            for task in ended:
                task.result()  # an error of this program ends the worker
        finally:
            await self._dispatcher.close()
            await cancelled(stopping, *loops)
            await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._handler.close()
        for link in (self._claims, self._writes):
            await link.close()

    async def turn(self, worker: int) -> int:
        """Claim once and dispatch what was claimed; return the number of rows.

        Raises:
            LeaseLost: the worker was declared lost.
        """
        limit = min(self.spec.batch, self._dispatcher.room)
        if self._is_alone:
            limit = int(self._dispatcher.is_idle)
        if limit == 0 or not self._is_registered():
            return 0
        rooms = self._dispatcher.rooms()
        rows = await self._claims.call(
            lambda conn: store.claim(
                conn,
                self.spec,
                self._handler.row,
                worker=worker,
                limit=limit,
                is_alone=self._is_alone,
                first=FIRST_ROWS * WAITING_PER_ROW,
                rooms=rooms if self.spec.key is not None else None,
                loading=self._handler.claims_by,
            )
        )
        self._dispatcher.claimed(rows, rooms, limit)
        if rows:
            reach(f"{self.spec.name}.claimed")
            now = asyncio.get_running_loop().time()
            self._held |= {row.id: (row, now) for row in rows}
            await self._load(rows)
        return len(rows)

    async def _load(self, rows: Sequence[Row]) -> None:
        """Read what the rows need and dispatch them; a row that cannot be read fails alone."""
        try:
            loaded = await self._claims.call(partial(self._handler.load, rows=rows))
        except Exception as exc:
            if not concerns_rows(exc) and not isinstance(exc, MailqueueError):
                raise
            if len(rows) == 1:
                self._settle(rows[0], self._failure(rows[0], exc))
                return
            for row in rows:
                await self._load([row])
            return
        found = {row.id for row in loaded}
        for row in rows:
            if row.id not in found:
                self._settle(row, Retry("what it needs was not found"))
        self._dispatcher.add(loaded)

    async def turn_to_end(self, worker: int) -> int:
        """Claim once, and handle and settle what was claimed; return the number of rows."""
        settling = asyncio.create_task(self._settler.run())
        try:
            count = await self.turn(worker)
            while not self._dispatcher.is_idle:
                await self._dispatcher.drained()
                await asyncio.sleep(TURN_SECONDS)  # a failure is settled before its key goes on
            idle = asyncio.create_task(self._settler.drained())
            await asyncio.wait((idle, settling), return_when=asyncio.FIRST_COMPLETED)
            if settling.done():
                settling.result()
            return count
        finally:
            await cancelled(settling)

    async def _claim_forever(self, worker: int) -> None:
        least, most = self.spec.poll
        pause = least
        while True:
            self._room.clear()
            is_behind = len(self._settler) >= MAX_UNSETTLED
            count = 0 if is_behind else await self.turn(worker)
            if self._until_idle and not count and self._dispatcher.is_idle:
                return
            pause = least if count or self._until_idle else min(most, pause * 1.5)
            if count and count >= self.spec.batch // 2 and self._dispatcher.is_short:
                continue
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):  # a freed slot makes room for more
                    await self._room.wait()
                await asyncio.sleep(CLAIM_SECONDS)  # several keys share a claim

    def _freed(self) -> None:
        """Claim more where the last claim left rows, and few wait in memory."""
        if not self._room.is_set() and self._dispatcher.is_short:
            self._room.set()

    async def _handle(self, row: Row) -> bool:
        """Handle one row; return whether its key was answered."""
        if not self._is_registered():
            self._settle(row, Defer())
            return False
        slot = self._in_progress.begin(self.spec.name, row.id, row.claim_no)
        try:
            reach(f"{self.spec.name}.handling")
            async with asyncio.timeout(self.spec.time_limit.total_seconds()):
                result = await self._handler.handle(row)
            reach(f"{self.spec.name}.handled")
        except MemoryError as exc:
            if self._is_alone:  # elsewhere it would have taken the memory of the host
                os._exit(EXIT_OUT_OF_MEMORY)
            result = self._failure(row, exc)
        except Exception as exc:  # of this row alone: the others go on
            result = self._failure(row, exc)
        finally:
            self._in_progress.end(slot)
        self._settle(row, result)
        return self._handler.is_answered(result)

    def _failure(self, row: Row, fault: Exception) -> Outcome:
        if isinstance(fault, MailqueueError):
            return Retry(str(fault))
        if isinstance(fault, TimeoutError):
            return Retry(f"not finished after {self.spec.time_limit.total_seconds():.0f} s")
        log.exception("queue.not_handled", queue=self.spec.name, row=str(row.id), exc_info=fault)
        return Retry(f"{type(fault).__name__}: {fault}")

    def _settle(self, row: Row, result: Outcome | Work) -> None:
        self._settler.settle(row, result)

    def _release_key(self, key: str, reason: str) -> None:
        """Return the waiting rows of a key to the queue, such as when its circuit opened."""
        for row in self._dispatcher.give_back_of(key):
            self._settle(row, Defer(reason))

    def _key_of(self, row: Row) -> str:
        return str(getattr(row, cast("str", self.spec.key)))

    def _written(self, rows: Sequence[Row]) -> None:
        self._dispatcher.settled(rows)
        for row in rows:
            held = self._held.get(row.id)
            if held is not None and held[0].claim_no == row.claim_no:
                del self._held[row.id]
        self._freed()

    async def _renew_forever(self) -> None:
        """Extend the leases of rows that take longer than a third of their lease."""
        third = self.spec.lease.total_seconds() / 3
        while True:
            await asyncio.sleep(third)
            oldest = asyncio.get_running_loop().time() - third
            rows = [row for row, claimed_at in self._held.values() if claimed_at < oldest]
            if rows:
                held = await self._writes.call(partial(store.renew, spec=self.spec, rows=rows))
                reach(f"{self.spec.name}.renewed")
                if held < len(rows):
                    log.warning("queue.lost", queue=self.spec.name, count=len(rows) - held)

    async def _rest_forever(self) -> None:
        while True:
            await asyncio.sleep(REST_SECONDS)
            self._dispatcher.forget_idle()
            try:
                await self._handler.rest(self._writes.call)
            except Exception:  # rows go on
                log.exception("queue.rest_failed", queue=self.spec.name)

    async def _drain(self) -> None:
        for row in self._dispatcher.give_back():
            self._settle(row, Defer())
        await self._dispatcher.drained()
        await self._settler.drained()
        reach(f"{self.spec.name}.drained")
