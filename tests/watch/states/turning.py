"""A worker of a queue whose claims a test asks for one by one."""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

from mailqueue.core.queues.registry import queue_named
from mailqueue.db.link import Link
from mailqueue.queue.handler import Handler
from mailqueue.queue.heartbeat import Heartbeat
from mailqueue.queue.in_progress import InProgress
from mailqueue.queue.worker import QueueWorker
from mailqueue.settings.environment import DatabaseSettings
from tests.watch import watching


class Turner:
    """Claims when it is told to; each round ends with what was claimed."""

    def __init__(self, worker: QueueWorker[Any, Any], number: int) -> None:
        self._worker = worker
        self.number = number

    async def turn(self, *, but: Collection[UUID] = ()) -> int:
        """Claim once and wait until all is settled, `but` rows that do not end; return the rows."""
        count = await self._worker.turn(self.number)

        async def is_settled() -> bool:
            return set(self._worker.held) <= set(but)

        await watching.wait(is_settled, "the end of what was claimed")
        return count


@asynccontextmanager
async def turner(
    database: DatabaseSettings,
    name: str,
    handler: Handler[Any, Any],
    *,
    batch: int = 100,
    concurrency: int = 32,
) -> AsyncIterator[Turner]:
    """Register a worker of a queue during the block; it claims nothing by itself."""
    link = Link(database, "tests/beat")
    heartbeat = Heartbeat(link, kind=name, launch_id=uuid4(), queues=[name])
    assert await heartbeat.start(asyncio.Event())
    spec = replace(queue_named(name), batch=batch, concurrency=concurrency)
    worker = QueueWorker(database, spec, handler, InProgress())
    settling = asyncio.create_task(worker.settler.run())
    try:
        yield Turner(worker, heartbeat.worker_id)
    finally:
        await worker.dispatcher.close()
        settling.cancel()
        await asyncio.wait((settling,))
        await worker.close()
        await link.close()
