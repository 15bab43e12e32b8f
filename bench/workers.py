"""Starts mailqueue's real send workers, and waits for their work."""

import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from mailqueue.db.fetch import Conn
from mailqueue.settings.environment import DatabaseSettings

POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Workers:
    """Running workers; `process` is their parent process."""

    process: asyncio.subprocess.Process

    @property
    def pid(self) -> int:
        return self.process.pid

    async def until(self, conn: Conn, question: str, *asked: object) -> None:
        """Wait until a query of the database returns true.

        Raises:
            RuntimeError: if the workers end before.
        """
        while True:
            row = await (await conn.execute(question.encode(), asked or None)).fetchone()
            if row is not None and row[0]:
                return
            if self.process.returncode is not None:
                raise RuntimeError(f"the workers ended with code {self.process.returncode}")
            await asyncio.sleep(POLL_SECONDS)


def environment(
    database: DatabaseSettings, data: str, variables: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the environment of a mailqueue process, with the settings of the benchmark only."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("MAILQUEUE_", "PG"))}
    return {
        **kept,
        "MAILQUEUE_DATABASE_URL": database.url.reveal(),
        "MAILQUEUE_DATA": data,
        "MAILQUEUE_LOG_LEVEL": "warning",
        **(variables or {}),
    }


async def migrate_with(checkout: Path, database: DatabaseSettings) -> None:
    """Migrate a database with another version of mailqueue.

    Raises:
        RuntimeError: if it cannot be had.
    """
    with tempfile.TemporaryDirectory(prefix="mailqueue-bench-data-") as data:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "mailqueue", "migrate"),
            env=environment(database, data),
            cwd=checkout,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        if await process.wait() != 0:
            raise RuntimeError(f"migrating with the checkout in {checkout} failed")


@asynccontextmanager
async def send_workers(
    conn: Conn,
    database: DatabaseSettings,
    *,
    processes: int,
    arguments: tuple[str, ...] = (),
    variables: Mapping[str, str] | None = None,
    checkout: Path | None = None,
) -> AsyncIterator["Workers"]:
    """Run `mailqueue worker send`; yield the workers once all of them wait for mail.

    `checkout` is a folder with another version of mailqueue; None is this one.
    """
    command = ("send", "--processes", str(processes), *arguments)
    async with _worker(database, *command, variables=variables, checkout=checkout) as workers:
        await workers.until(conn, "SELECT count(*) = %s FROM mailqueue.waiters", processes)
        yield workers


@asynccontextmanager
async def queue_worker(
    conn: Conn, database: DatabaseSettings, queue: str, *, checkout: Path | None = None
) -> AsyncIterator["Workers"]:
    """Run `mailqueue worker QUEUE`; yield it once its process has signed in.

    `checkout` is a folder with another version of mailqueue; None is this one.
    """
    async with _worker(database, queue, checkout=checkout) as worker:
        await worker.until(conn, "SELECT mailqueue.has_worker(%s)", queue)
        yield worker


@asynccontextmanager
async def _worker(
    database: DatabaseSettings,
    *command: str,
    variables: Mapping[str, str] | None = None,
    checkout: Path | None,
) -> AsyncIterator["Workers"]:
    with tempfile.TemporaryDirectory(prefix="mailqueue-bench-data-") as data:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "mailqueue", "worker", *command),
            env=environment(database, data, variables),
            stdin=asyncio.subprocess.DEVNULL,
            cwd=checkout,
        )
        try:
            yield Workers(process)
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()
