"""Keeps a number of worker processes running, and rescues the mail of those that died."""

import asyncio
import signal
import sys
from collections.abc import Coroutine
from typing import Any
from uuid import UUID, uuid4

from mailqueue.db.link import Link
from mailqueue.operations.doctor.disk_space import watching_space
from mailqueue.queue import store
from mailqueue.queue.heartbeat import LOST_AFTER
from mailqueue.queue.rescue import rescuing
from mailqueue.settings.environment import Settings
from mailqueue.telemetry.log import get_logger

MIN_RESTART_WAIT, MAX_RESTART_WAIT = 0.2, 10.0
DRAIN_SECONDS = 45.0
"""Time for a child to drain before it is killed; its own drain ends sooner."""

log = get_logger(__name__)


class WorkerPool:
    """Worker processes of one kind, restarted when they die, until `stop` is set."""

    def __init__(self, settings: Settings, *, kind: str) -> None:
        self._settings = settings
        self._kind = kind
        self._link = Link(settings.database, "mailqueue/rescue")

    async def run(self, stop: asyncio.Event) -> None:
        """Run all processes until `stop` is set and all of them have ended."""
        try:
            async with rescuing(self._settings.database), watching_space(self._settings):
                # Wait even with no processes: rescue runs for the workers of other hosts.
                await asyncio.gather(
                    stop.wait(),
                    *(self._keep_one(stop) for _ in range(self._settings.workers.processes)),
                )
        finally:
            await self._link.close()

    async def _keep_one(self, stop: asyncio.Event) -> None:
        wait = MIN_RESTART_WAIT
        while not stop.is_set():
            launch_id = uuid4()
            child = await self._start(str(launch_id))
            started_at = asyncio.get_running_loop().time()
            code = await self._ended(child, stop)
            if code == 0:
                continue
            log.error("worker.died", pid=child.pid, code=code)
            await _unless_stopped(stop, self._rescue(launch_id))
            lived = asyncio.get_running_loop().time() - started_at
            # Back off only if the child failed by itself, not if it was killed.
            was_well = code == -signal.SIGKILL or lived > MAX_RESTART_WAIT
            wait = MIN_RESTART_WAIT if was_well else min(MAX_RESTART_WAIT, wait * 2)
            await _unless_stopped(stop, asyncio.sleep(wait))

    async def _rescue(self, launch_id: UUID) -> None:
        """Rescue the mail of a dead child at once, before its heartbeat is missed."""
        try:
            await self._link.call(
                lambda conn: store.rescue(conn, silence=LOST_AFTER, launch_id=launch_id)
            )
        except Exception:  # rescued later, when its heartbeat is missed
            log.exception("rescue.failed", launch_id=str(launch_id))

    async def _start(self, launch_id: str) -> asyncio.subprocess.Process:
        limits = self._settings.workers
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "mailqueue",
            "worker",
            self._kind,
            f"--child={launch_id}",
            f"--data={self._settings.data}",
            f"--in-flight={limits.in_flight}",
            f"--batch={limits.batch}",
            *([f"--public-url={url}"] if (url := self._settings.tracking.public_url) else []),
            stdin=asyncio.subprocess.PIPE,  # closes when this process dies
            stdout=sys.stderr,
        )

    async def _ended(self, child: asyncio.subprocess.Process, stop: asyncio.Event) -> int:
        """Wait for the child to end; once `stop` is set, terminate it, then kill it."""
        ended = asyncio.create_task(child.wait())
        stopping = asyncio.create_task(stop.wait())
        await asyncio.wait((ended, stopping), return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if not ended.done():
            child.terminate()
            _, late = await asyncio.wait((ended,), timeout=DRAIN_SECONDS)
            if late:
                child.kill()
        return await ended


async def _unless_stopped(stop: asyncio.Event, work: Coroutine[Any, Any, None]) -> None:
    """Run `work` until `stop` is set: the database may be unavailable for long."""
    working = asyncio.create_task(work)
    stopping = asyncio.create_task(stop.wait())
    ended, _ = await asyncio.wait((working, stopping), return_when=asyncio.FIRST_COMPLETED)
    for task in (working, stopping):
        task.cancel()
    await asyncio.gather(working, stopping, return_exceptions=True)
    if working in ended:
        working.result()
