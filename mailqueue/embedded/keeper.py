"""Restarts the private server if it ends unexpectedly, and stops it at the end."""

import asyncio
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from mailqueue.core.errors import Unavailable
from mailqueue.embedded.cluster import Cluster
from mailqueue.embedded.postmaster import running_postmaster
from mailqueue.telemetry.log import get_logger

POLL_SECONDS = 0.5

log = get_logger(__name__)


@asynccontextmanager
async def keep_running(
    cluster: Cluster, process: subprocess.Popen[bytes] | None
) -> AsyncIterator[None]:
    """Keep a started server running while the block lasts, then stop it.

    A killed server recovers committed data; open connections are lost.
    """
    keeper = _Restarter(cluster, process)
    done = asyncio.Event()
    keeping = asyncio.create_task(keeper.run(done), name="postgresql")
    try:
        yield
    finally:
        done.set()
        await keeping  # not cancelled: a server that is starting must be stopped too
        await asyncio.to_thread(cluster.stop, keeper.process)


class _Restarter:
    """The process of the server; None if it is not a child process."""

    def __init__(self, cluster: Cluster, process: subprocess.Popen[bytes] | None) -> None:
        self._cluster = cluster
        self.process = process

    async def run(self, done: asyncio.Event) -> None:
        """Check the server periodically until `done` is set."""
        while not done.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(POLL_SECONDS):
                    await done.wait()
            if not done.is_set() and self._has_ended():
                await self._start_again()

    def _has_ended(self) -> bool:
        if self.process is not None:
            return self.process.poll() is not None
        return running_postmaster(self._cluster.folder) is None

    async def _start_again(self) -> None:
        log.error("postgresql.died", log=str(self._cluster.log))
        try:
            _, self.process = await asyncio.to_thread(self._cluster.start)
        except Unavailable as exc:
            log.error("postgresql.not_started", error=str(exc))
        else:
            log.info("postgresql.started_again")
