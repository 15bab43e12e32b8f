"""Runs the worker of one queue in this process."""

import asyncio
from typing import Any

from mailqueue.core.queues.registry import queue_named
from mailqueue.db.pool import connect
from mailqueue.queue.handler import Handler
from mailqueue.queue.in_progress import InProgress
from mailqueue.queue.tasks import cancelled
from mailqueue.queue.worker import QueueWorker
from mailqueue.settings.environment import DatabaseSettings
from tests import make

TURN_SECONDS = 0.005
"""Interval at which `turn_to_end` checks whether rows still wait, in seconds."""


async def turn_to_end(worker: QueueWorker[Any, Any], number: int) -> int:
    """Claim once, and handle and settle what was claimed; return the number of rows."""
    settling = asyncio.create_task(worker.settler.run())
    try:
        count = await worker.turn(number)
        while not worker.dispatcher.is_idle:
            await worker.dispatcher.drained()
            await asyncio.sleep(TURN_SECONDS)  # a failure is settled before its key goes on
        idle = asyncio.create_task(worker.settler.drained())
        await asyncio.wait((idle, settling), return_when=asyncio.FIRST_COMPLETED)
        if settling.done():
            settling.result()
        return count
    finally:
        await cancelled(settling)


async def work_once(
    database: DatabaseSettings, queue: str, handler: Handler[Any, Any], *, is_alone: bool = False
) -> int:
    """Create a worker, and let it claim once, handle and settle."""
    async with connect(database) as conn:
        number = await make.worker(conn)
    in_progress = InProgress()
    worker = QueueWorker(database, queue_named(queue), handler, in_progress, is_alone=is_alone)
    try:
        return await turn_to_end(worker, number)
    finally:
        await worker.close()
        in_progress.close()
