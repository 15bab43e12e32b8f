"""Starts mailqueue's real send workers, and waits for what they do."""

import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mailqueue.core.config import DatabaseSettings
from mailqueue.db.fetch import Conn

POLL_SECONDS = 0.1


@asynccontextmanager
async def send_workers(
    conn: Conn, database: DatabaseSettings, *, processes: int, arguments: tuple[str, ...] = ()
) -> AsyncIterator[int]:
    """Run `mailqueue worker send`; gives the pid above all workers once all wait for mail."""
    with tempfile.TemporaryDirectory(prefix="mailqueue-bench-data-") as data:
        environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("MAILQUEUE_", "PG"))},
            "MAILQUEUE_DATABASE_URL": database.url.reveal(),
            "MAILQUEUE_DATA": data,
            "MAILQUEUE_LOG_LEVEL": "warning",
        }
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "mailqueue", "worker", "send"),
            *("--processes", str(processes), *arguments),
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
        )
        try:
            await until(conn, "SELECT count(*) = %s FROM mailqueue.waiters", processes)
            yield process.pid
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()


async def until(conn: Conn, question: str, *asked: object, seconds: float = 600.0) -> None:
    """Wait until the database says yes.

    Raises:
        TimeoutError: if it has not after so many seconds.
    """
    async with asyncio.timeout(seconds):
        while True:
            row = await (await conn.execute(question.encode(), asked or None)).fetchone()
            if row is not None and row[0]:
                return
            await asyncio.sleep(POLL_SECONDS)
