"""Keeps caught mail in batches: what arrives while one batch is written makes the next.

Nobody is told that a message was taken before the transaction that keeps it has committed.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

from mailqueue.core.crashpoints import reach
from mailqueue.core.errors import InputError, MailqueueError, Unavailable
from mailqueue.db.pool import Pool, borrow
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.telemetry.log import get_logger
from mailqueue.trap import store
from mailqueue.trap.model import Caught

MOST_MESSAGES = 100
MOST_BYTES = 16 * 1024 * 1024

log = get_logger(__name__)


class Collector:
    """Takes messages from many connections and writes them together."""

    def __init__(self, pool: Pool, database: DatabaseSettings) -> None:
        self._pool = pool
        self._database = database
        self._waiting: deque[tuple[Caught, asyncio.Future[None]]] = deque()
        self._arrived = asyncio.Event()
        self._is_closed = False

    async def keep(self, message: Caught) -> None:
        """Return when the message is committed.

        Raises:
            MailqueueError: it could not be kept.
        """
        if self._is_closed:
            raise Unavailable("the trap is closed")
        kept: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((message, kept))
        self._arrived.set()
        await kept

    async def run(self) -> None:
        """Write batches until cancelled."""
        try:
            while True:
                await self._arrived.wait()
                await self._turn()
        finally:
            self._is_closed = True
            for _, kept in self._waiting:
                _tell(kept, Unavailable("the trap is closed"))

    async def _turn(self) -> None:
        batch = self._take()
        try:
            await self._write([message for message, _ in batch])
            reach("trap.kept")
        except InputError:
            await self._write_singly(batch)
        except MailqueueError as exc:
            log.warning("trap.failed", messages=len(batch), error=str(exc))
            for _, kept in batch:
                _tell(kept, exc)
        except Exception:  # the next batch must find somebody who keeps it
            log.exception("trap.failed", messages=len(batch))
        else:
            for _, kept in batch:
                _tell(kept, None)
        finally:  # cut off in the middle: nobody may wait for ever
            for _, kept in batch:
                _tell(kept, Unavailable("the trap is closed"))

    async def _write_singly(self, batch: Sequence[tuple[Caught, asyncio.Future[None]]]) -> None:
        """One of them is at fault; the others must not suffer for it."""
        for message, kept in batch:
            try:
                await self._write([message])
            except MailqueueError as exc:
                _tell(kept, exc)
            else:
                _tell(kept, None)

    async def _write(self, messages: Sequence[Caught]) -> None:
        async with borrow(self._pool, self._database) as conn:
            await store.add(conn, messages)

    def _take(self) -> list[tuple[Caught, asyncio.Future[None]]]:
        batch: list[tuple[Caught, asyncio.Future[None]]] = []
        size = 0
        while self._waiting and len(batch) < MOST_MESSAGES and size < MOST_BYTES:
            batch.append(self._waiting.popleft())
            size += len(batch[-1][0].raw)
        if not self._waiting:
            self._arrived.clear()
        return batch


@asynccontextmanager
async def collector(pool: Pool, database: DatabaseSettings) -> AsyncIterator[Collector]:
    """Run a collector until the block ends."""
    made = Collector(pool, database)
    task = asyncio.create_task(made.run(), name="trap collector")
    try:
        yield made
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def _tell(kept: asyncio.Future[None], fault: MailqueueError | None) -> None:
    if kept.done():  # the client is gone
        return
    if fault is None:
        kept.set_result(None)
    else:
        kept.set_exception(fault)
