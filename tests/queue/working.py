"""Runs the worker of one queue in this process."""

from typing import Any

from mailqueue.core.queues import queue_named
from mailqueue.db.pool import connect
from mailqueue.queue.handler import Handler
from mailqueue.queue.in_progress import InProgress
from mailqueue.queue.worker import QueueWorker
from mailqueue.settings.environment import DatabaseSettings
from tests import make


async def work_once(
    database: DatabaseSettings, queue: str, handler: Handler[Any, Any], *, is_alone: bool = False
) -> int:
    """Claim once, and handle and settle what was claimed; return the number of rows."""
    async with connect(database) as conn:
        number = await make.worker(conn)
    in_progress = InProgress()
    worker = QueueWorker(database, queue_named(queue), handler, in_progress, is_alone=is_alone)
    try:
        return await worker.turn_to_end(number)
    finally:
        await worker.close()
        in_progress.close()
