"""Runs the workers of one or several queues in one process, registered under one heartbeat."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple
from uuid import UUID

from mailqueue.core.errors import LeaseLost
from mailqueue.core.queues.model import QueueSpec
from mailqueue.db.link import Link
from mailqueue.queue.handler import Handler
from mailqueue.queue.heartbeat import Heartbeat
from mailqueue.queue.in_progress import InProgress
from mailqueue.queue.running import run_worker
from mailqueue.queue.tasks import cancelled
from mailqueue.queue.worker import QueueWorker
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.telemetry.log import get_logger

RESTART_SECONDS = 5.0
"""Wait before the worker of a queue starts again after an error of this program."""

log = get_logger(__name__)


class Kind(NamedTuple):
    """A queue, and what makes the handler of its rows."""

    spec: QueueSpec
    build: Callable[[], Handler[Any, Any]]


async def run_queues(
    database: DatabaseSettings,
    kinds: Sequence[Kind],
    stop: asyncio.Event,
    *,
    launch_id: UUID,
    in_progress: InProgress,
    is_alone: bool = False,
    until_idle: bool = False,
) -> None:
    """Work on queues until `stop` is set; a process declared lost registers again.

    With `is_alone` the rows are those whose worker stopped before, one by one. With it and with
    `until_idle` this returns when none is due.
    """
    turning = asyncio.create_task(in_progress.turn_forever(), name="turn")
    try:
        while not await _run_once(
            database,
            kinds,
            stop,
            launch_id=launch_id,
            in_progress=in_progress,
            is_alone=is_alone,
            until_idle=until_idle,
        ):
            if stop.is_set():
                return
    finally:
        await cancelled(turning)


async def _run_once(
    database: DatabaseSettings,
    kinds: Sequence[Kind],
    stop: asyncio.Event,
    *,
    launch_id: UUID,
    in_progress: InProgress,
    is_alone: bool,
    until_idle: bool,
) -> bool:
    """Register and work; return False if this process was declared lost."""
    names = [kind.spec.name for kind in kinds]
    link = Link(database, "mailqueue/beat")
    heartbeat = Heartbeat(link, kind="+".join(names), launch_id=launch_id, queues=names)
    if not await heartbeat.start(stop):
        return True
    log.info("worker.started", worker=heartbeat.worker_id, queues=names)
    beating = asyncio.create_task(heartbeat.beat_forever(), name="beat")
    working = asyncio.create_task(
        _work(
            database,
            kinds,
            stop,
            heartbeat,
            in_progress,
            is_alone=is_alone,
            until_idle=until_idle,
        ),
        name="work",
    )
    try:
        await asyncio.wait((beating, working), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            working.result()
        if heartbeat.is_lost:
            log.warning("worker.lost", worker=heartbeat.worker_id)
            return False
        await heartbeat.stop()
        log.info("worker.stopped", worker=heartbeat.worker_id)
        return True
    finally:
        await cancelled(beating, working)
        await link.close()


async def _work(
    database: DatabaseSettings,
    kinds: Sequence[Kind],
    stop: asyncio.Event,
    heartbeat: Heartbeat,
    in_progress: InProgress,
    *,
    is_alone: bool,
    until_idle: bool,
) -> None:
    async def keep(kind: Kind) -> None:
        while not stop.is_set():
            worker = QueueWorker(
                database,
                kind.spec,
                kind.build(),
                in_progress,
                is_registered=heartbeat.is_alive,
                is_alone=is_alone,
                until_idle=until_idle,
            )
            try:
                await run_worker(worker, stop, heartbeat.worker_id)
            except LeaseLost:
                heartbeat.is_lost = True
                raise
            except Exception:  # an error of ours in one queue does not stop the others
                log.exception("worker.failed", queue=kind.spec.name)
                with suppress(TimeoutError):
                    async with asyncio.timeout(RESTART_SECONDS):
                        await stop.wait()
            else:
                return

    tasks = [asyncio.create_task(keep(kind), name=kind.spec.name) for kind in kinds]
    try:
        with suppress(LeaseLost):
            await asyncio.gather(*tasks)
    finally:
        await cancelled(*tasks)
