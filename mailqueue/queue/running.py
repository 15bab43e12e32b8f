"""Runs a queue worker: the loops beside its claims, and its end."""

import asyncio
from contextlib import suppress
from typing import Any

from mailqueue.core.crashpoints import reach
from mailqueue.core.errors import LeaseLost
from mailqueue.core.outcome import Defer
from mailqueue.db.faults import OF_DATABASE
from mailqueue.queue.leases import renew_forever
from mailqueue.queue.tasks import cancelled
from mailqueue.queue.worker import QueueWorker
from mailqueue.telemetry.log import get_logger

REST_SECONDS = 5.0
"""Interval at which idle keys and connections are released."""
DRAIN_SECONDS = 30.0
"""Time for rows that are being handled when the worker stops."""
RELEASE_SECONDS = 5.0
"""Limit of the statement that returns what a worker held which failed."""

log = get_logger(__name__)


async def run_worker(worker: QueueWorker[Any, Any], stop: asyncio.Event, number: int) -> None:
    """Work under a worker number until `stop` is set, then finish what is being handled.

    Raises:
        LeaseLost: the worker was declared lost.
        Exception: an error of this program; the rows that the worker held are in the queue again.
    """
    loops = [
        asyncio.create_task(loop, name=f"{worker.spec.name}-{name}")
        for name, loop in (
            ("claim", worker.claim_forever(number)),
            ("settle", worker.settler.run()),
            ("renew", renew_forever(worker.writes, worker.spec, worker.held)),
            ("rest", _rest_forever(worker)),
        )
    ]
    claiming, settling, *_ = loops
    stopping = asyncio.create_task(stop.wait())
    try:
        ended, _ = await asyncio.wait((stopping, *loops), return_when=asyncio.FIRST_COMPLETED)
        await cancelled(claiming)
        is_lost = any(isinstance(task.exception(), LeaseLost) for task in ended)
        if not is_lost and not settling.done():  # else nothing can be settled
            with suppress(TimeoutError):
                async with asyncio.timeout(DRAIN_SECONDS):
                    await _drain(worker)
        for task in ended:
            task.result()
    except LeaseLost:
        raise
    except Exception:
        await worker.dispatcher.close()
        worker.held.clear()
        with suppress(*OF_DATABASE, TimeoutError):  # else they return when their lease is over
            async with asyncio.timeout(RELEASE_SECONDS):
                await worker.release(number)
        raise
    finally:
        await worker.dispatcher.close()
        await cancelled(stopping, *loops)
        await worker.close()


async def _rest_forever(worker: QueueWorker[Any, Any]) -> None:
    while True:
        await asyncio.sleep(REST_SECONDS)
        worker.dispatcher.forget_idle()
        try:
            await worker.handler.rest(worker.writes.call)
        except Exception:  # rows go on
            log.exception("queue.rest_failed", queue=worker.spec.name)


async def _drain(worker: QueueWorker[Any, Any]) -> None:
    for row in worker.dispatcher.give_back():
        worker.settler.settle(row, Defer())
    await worker.dispatcher.drained()
    await worker.settler.drained()
    reach(f"{worker.spec.name}.drained")
