"""Processes of the bridge that tests kill."""

import asyncio
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

from mailqueue.core.crashpoints import VARIABLE
from mailqueue.settings.environment import DatabaseSettings
from tests.bridge.server import RabbitServer

ROOT = Path(__file__).parents[2]


class Bridge:
    """Processes of `mailqueue worker rabbitmq`. Mutable."""

    def __init__(self, database: DatabaseSettings, server: RabbitServer, queue: str) -> None:
        self._environment = os.environ | {
            "MAILQUEUE_DATABASE_URL": database.url.reveal(),
            "MAILQUEUE_RABBITMQ_URL": server.url,
            "MAILQUEUE_RABBITMQ_QUEUES": f"{queue}=default",
            "MAILQUEUE_RABBITMQ_DELIVERY_LIMIT": "1000",
        }
        self._processes: list[asyncio.subprocess.Process] = []

    async def start(self, crash: str | None = None) -> asyncio.subprocess.Process:
        """Start one more process, which dies at a crash point if one is given."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            str(ROOT / "workers" / "rabbitmq.py"),
            env=self._environment | ({} if crash is None else {VARIABLE: crash}),
            stderr=asyncio.subprocess.DEVNULL,
        )
        self._processes.append(process)
        return process

    async def end(self, by: signal.Signals = signal.SIGKILL) -> list[int | None]:
        """End all processes; return their exit codes."""
        for process in self._processes:
            with suppress(ProcessLookupError):
                process.send_signal(by)
            await process.wait()
        codes = [process.returncode for process in self._processes]
        self._processes.clear()
        return codes
