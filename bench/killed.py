"""Runs the workers of watched inboxes, kills them, and begins them again."""

import asyncio
import os
import random
import signal
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bench.cpu import tree
from bench.mailboxes import Servers
from bench.workers import environment
from mailqueue.settings.environment import DatabaseSettings
from tests.api.support.wired import MASTER

QUEUES = ("inboxes", "notifications")


class Workers:
    """Runs a worker for each queue, and begins again those that were killed."""

    def __init__(self, variables: dict[str, str]) -> None:
        self.kills = 0
        self._environment = variables
        self._running: dict[str, asyncio.subprocess.Process] = {}

    async def start(self) -> None:
        """Start what does not run."""
        for queue in QUEUES:
            found = self._running.get(queue)
            if found is None or found.returncode is not None:
                self._running[queue] = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-m", "mailqueue", "worker", queue),
                    env=self._environment,
                    stdin=asyncio.subprocess.DEVNULL,
                )

    def roots(self) -> dict[str, int]:
        """Return the process id of each worker by its queue."""
        return {queue: one.pid for queue, one in self._running.items()}

    def check(self) -> None:
        """Raise RuntimeError where a worker ended that was not killed."""
        for queue, one in self._running.items():
            if one.returncode not in (None, -signal.SIGKILL):
                raise RuntimeError(f"the worker of {queue} ended with code {one.returncode}")

    async def kill_forever(self, seconds: float, chosen: random.Random) -> None:
        """Kill one process that handles rows, then a whole worker, and so on.

        A worker that has none yet is left alone: on a slow machine it would never begin.
        """
        while True:
            await asyncio.sleep(seconds)
            queue = QUEUES[self.kills // 2 % len(QUEUES)]
            below = tree(self._running[queue].pid)
            handling = [process.pid for process in below if process.parent != below[0].pid][1:]
            if not handling:
                continue
            if self.kills % 2:
                _kill([process.pid for process in below])
                await self._running[queue].wait()
                await self.start()
            else:
                _kill([chosen.choice(handling)])
            self.kills += 1

    async def stop(self) -> None:
        """End all workers."""
        for one in self._running.values():
            if one.returncode is None:
                one.terminate()
        await asyncio.gather(*(one.wait() for one in self._running.values()))


def _kill(pids: list[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


@asynccontextmanager
async def working(database: DatabaseSettings, servers: Servers) -> AsyncIterator[Workers]:
    """Run the workers until the block ends."""
    with tempfile.TemporaryDirectory(prefix="mailqueue-bench-data-") as data:
        variables = {
            "MAILQUEUE_MASTER_KEY": MASTER,
            "MAILQUEUE_ALLOWED_HOSTS": "127.0.0.0/8",
            "MAILQUEUE_SLACK_URL": f"http://127.0.0.1:{servers.slack_port}/api",
            "MAILQUEUE_LOG_LEVEL": "error",
        }
        workers = Workers(environment(database, data, variables))
        await workers.start()
        try:
            yield workers
        finally:
            await workers.stop()
