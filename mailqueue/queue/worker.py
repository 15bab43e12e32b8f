"""The worker of one queue: claim, handle, settle.

claim     due rows are taken under a claim number            store.py, functions/queue
load      what they need is read together                    loading.py
handle    the kind's handler, as slots allow                 handler.py, concurrency.py
settle    outcomes are written, many in one commit           settler.py

A row that cannot be read, handled or settled is that row's outcome; the others go on. `running.py`
has the loops beside the claims; `process.py` runs the workers of several queues in one process.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Generic
from uuid import UUID

from mailqueue.core.crashpoints import reach
from mailqueue.core.errors import LeaseLost
from mailqueue.core.outcome import Defer, Outcome
from mailqueue.core.queues.model import QueueSpec
from mailqueue.db.link import Link
from mailqueue.queue import store
from mailqueue.queue.concurrency import FIRST_ROWS, WAITING_PER_ROW, Dispatcher
from mailqueue.queue.failures import failure_of
from mailqueue.queue.handler import Handler, TransactionHandler, Work
from mailqueue.queue.in_progress import InProgress
from mailqueue.queue.leases import Held
from mailqueue.queue.loading import Loader
from mailqueue.queue.rows import Row
from mailqueue.queue.settler import MAX_GROUP, MAX_UNSETTLED, Settler
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.telemetry.log import get_logger
from mailqueue.telemetry.metrics.declared import CLAIMED_ROWS, CLAIMS, QUEUE_DURATION
from mailqueue.telemetry.metrics.memory import MEMORY

SHARE_SECONDS = 0.01
"""Wait for further keys that have room for more rows, so that they share a claim."""
REFUSED_SECONDS = 1.0
"""Wait after a claim that the server refused."""

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
        is_registered: Callable[[], bool] = lambda: True,
        is_alone: bool = False,
        until_idle: bool = False,
    ) -> None:
        """Prepare; `is_alone`: the rows are those whose worker stopped before, one by one.

        Then, and with `until_idle`, the worker stops when nothing is due. While `is_registered` is
        false no row is started: another worker may have claimed it.
        """
        self.spec = spec
        self.handler = handler
        self._in_progress = in_progress
        self._is_alone = is_alone
        self._ends_idle = until_idle or is_alone
        self.claims = Link(database, f"mailqueue/{spec.name}")
        self.writes = Link(database, f"mailqueue/{spec.name}-settle")
        self.held = dict[UUID, Held]()
        self._may_hold_more = False  # rows of claims whose answers were lost
        self._wanted = asyncio.Event()
        self._is_registered = is_registered
        self.settler = Settler(self.writes, spec, handler, in_progress, written=self._written)
        self._loader: Loader[Row] | None = None
        if type(handler).load is not Handler.load:
            self._loader = Loader(self.claims, spec, handler, in_progress, self.settler.settle)
        key = spec.key or ""
        # A row that is handled alone is dispatched, as those of other handlers are.
        self._transactions = None
        if isinstance(handler, TransactionHandler) and not is_alone:
            self._transactions = handler
        self._has_keys = spec.key is not None and not is_alone and self._transactions is None
        self.dispatcher = Dispatcher(
            1 if is_alone else spec.concurrency,
            self._handle,
            key_of=(lambda row: str(getattr(row, key))) if self._has_keys else None,
            expired=lambda row: self.settler.settle(row, Defer()),
            max_wait=spec.lease.total_seconds() / 2,
            wants_more=self._wanted.set,
        )

    async def turn(self, worker: int) -> int:
        """Claim once and dispatch what was claimed; return the number of rows.

        Raises:
            LeaseLost: the worker was declared lost.
        """
        room = self.spec.concurrency - self.settler.unwritten
        if self._transactions is None:
            room = self.dispatcher.room
        limit = max(0, min(self.spec.batch, room))
        if self._is_alone:  # until a row is settled, a death is its own
            limit = int(not self.held)
        if limit == 0 or not self._is_registered():
            return 0
        rooms = self.dispatcher.rooms() if self._has_keys else {}
        claim = partial(
            store.claim,
            spec=self.spec,
            row=self.handler.row,
            worker=worker,
            limit=limit,
            is_alone=self._is_alone,
            first=FIRST_ROWS * WAITING_PER_ROW if self._transactions is None else limit,
            rooms=rooms,
            loading=self.handler.claims_by,
        )
        losses = self.claims.losses
        rows: Sequence[Row] = await self.claims.call(claim)
        MEMORY.record(CLAIMS, 1, self.spec.name)
        self._may_hold_more |= losses != self.claims.losses
        count, now = len(rows), asyncio.get_running_loop().time()
        if rows:
            MEMORY.record(CLAIMED_ROWS, count, self.spec.name)
            reach(f"{self.spec.name}.claimed")
            self.held |= {row.id: Held(row, now) for row in rows}
            if self._loader is not None:
                rows = await self._loader.load(rows)
        if self._transactions is None:
            self.dispatcher.add(rows, rooms, limit)
        else:
            for row in rows:
                self._work(self._transactions, row)
            if rows:
                self._wanted.set()  # the share of a key may be full while others had none
        return count

    async def claim_forever(self, worker: int) -> None:
        """Claim until cancelled, or until nothing is due if the worker ends then."""
        shortest, longest = self.spec.poll
        pause = shortest
        while True:
            self._wanted.clear()
            try:
                if self._may_hold_more:
                    await self.release(worker)
                is_behind = self.settler.unwritten >= MAX_UNSETTLED
                count = 0 if is_behind else await self.turn(worker)
            except Exception as exc:
                self._may_hold_more = True
                if isinstance(exc, LeaseLost) or self._ends_idle:
                    raise
                log.exception("queue.not_claimed", queue=self.spec.name)
                await asyncio.sleep(REFUSED_SECONDS)
                continue
            if self._ends_idle and not count and self.dispatcher.is_idle and not self.held:
                return
            pause = shortest if count or self._ends_idle else min(longest, pause * 1.5)
            if count and count >= self.spec.batch // 2 and self._is_short:
                continue
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):  # a freed slot makes room for more
                    await self._wanted.wait()
                await asyncio.sleep(SHARE_SECONDS)  # several keys share a claim

    @property
    def _is_short(self) -> bool:
        """Return whether fewer rows wait than may go on at once, and more may be due."""
        if self._transactions is None:
            return self.dispatcher.is_short
        return self.settler.unwritten < MAX_GROUP

    async def release(self, worker: int) -> None:
        """Return the rows that claims assigned to the worker and whose answers were lost."""
        release = partial(store.release, spec=self.spec, worker=worker, held=list(self.held))
        await self.claims.call(release)
        self._may_hold_more = False

    async def close(self) -> None:
        """Close the connections."""
        await self.handler.close()
        for link in (self.claims, self.writes):
            await link.close()

    async def _handle(self, row: Row) -> bool:
        """Handle one row; return whether its key was answered."""
        if not self._is_registered():
            self.settler.settle(row, Defer())
            return False
        result: Outcome | Work
        size, is_answered = 1, False
        begun = asyncio.get_running_loop().time()
        slot = self._in_progress.begin(self.spec.name, row.id, row.claim_no)
        try:
            reach(f"{self.spec.name}.handling")
            async with asyncio.timeout(self.spec.time_limit.total_seconds()):
                result = await self.handler.handle(row)
            reach(f"{self.spec.name}.handled")
            size = getattr(result, "size", 1)
            is_answered = self._has_keys and self.handler.is_answered(result)
        except Exception as exc:  # of this row alone: the others go on
            result = failure_of(self.spec, row, exc, is_alone=self._is_alone)
        finally:
            self._in_progress.end(slot)
        seconds = asyncio.get_running_loop().time() - begun
        MEMORY.record(QUEUE_DURATION, seconds, self.spec.name)
        self.settler.settle(row, result, size)
        return is_answered

    def _work(self, handler: TransactionHandler[Row, Work], row: Row) -> None:
        """Queue the work of one row to be written."""
        result: Outcome | Work
        size = 1
        begun = asyncio.get_running_loop().time()
        slot = self._in_progress.begin(self.spec.name, row.id, row.claim_no)
        try:
            reach(f"{self.spec.name}.handling")
            result = handler.work(row)
            reach(f"{self.spec.name}.handled")
            size = getattr(result, "size", 1)
        except Exception as exc:  # of this row alone: the others go on
            result = failure_of(self.spec, row, exc)
        finally:
            self._in_progress.end(slot)
        seconds = asyncio.get_running_loop().time() - begun
        MEMORY.record(QUEUE_DURATION, seconds, self.spec.name)
        self.settler.settle(row, result, size)

    def _written(self, rows: Sequence[Row], blocked: Mapping[str, str]) -> None:
        """Forget settled rows, and return those that wait for a key that is now blocked."""
        for key, reason in blocked.items():  # before more of its rows are started
            for row in self.dispatcher.give_back_of(key):
                self.settler.settle(row, Defer(reason))
        for row in rows:
            held = self.held.get(row.id)
            if held is not None and held.row.claim_no == row.claim_no:
                del self.held[row.id]
        if self._has_keys:
            self.dispatcher.settled(rows)
        elif self._transactions is not None:
            self._wanted.set()
