"""Worker processes under their real parent, in this process, with disturbed handlers."""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.process.child import Children
from mailqueue.process.groups import queue_children
from mailqueue.process.pool import WorkerPool
from mailqueue.process.starting import client
from mailqueue.process.starting.client import ForkServer
from mailqueue.queue.in_progress import InProgress
from mailqueue.settings.environment import DatabaseSettings, load_settings
from tests import make
from tests.api.support.wired import MASTER
from tests.forks.starting import preloaded, start_server
from tests.queue.kernel.child import VARIABLE

ROOT = Path(__file__).parents[3]
PATIENCE_SECONDS = 120.0
"""Limit of a wait on a busy machine."""
_PROGRAM = """#!{python}
import sys
sys.path.insert(0, {root!r})
from tests.queue.kernel import child
child.run(*sys.argv[2:])  # without -m
"""


def prepare(
    monkeypatch: pytest.MonkeyPatch, database: DatabaseSettings, folder: Path, **how: Any
) -> None:
    """Set the environment of worker processes; `how` is read by `child`."""
    preloaded()
    monkeypatch.setattr(client, "_start_server", start_server)
    program = folder / "worker"
    program.write_text(_PROGRAM.format(python=sys.executable, root=str(ROOT)))
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    monkeypatch.setenv("MAILQUEUE_DATABASE_URL", database.url.reveal())
    monkeypatch.setenv("MAILQUEUE_MASTER_KEY", MASTER)
    monkeypatch.setenv("MAILQUEUE_ALLOWED_HOSTS", "127.0.0.0/8")
    monkeypatch.setenv("MAILQUEUE_DATA", str(folder))
    monkeypatch.setenv(VARIABLE, json.dumps(how))


@asynccontextmanager
async def pool_of(
    names: Sequence[str],
    folder: Path,
    *,
    groups: Sequence[Children] | None = None,
    ready: Callable[[], None] | None = None,
) -> AsyncIterator[None]:
    """Run one process that works on these queues, or several, during the block."""
    stop = asyncio.Event()
    pool = WorkerPool(
        load_settings(data=folder), [queue_children(names)] if groups is None else groups
    )
    running = asyncio.create_task(pool.run(stop, ready=ready))
    try:
        yield
        if running.done():
            running.result()
    finally:
        stop.set()
        await running


async def code_of(*arguments: str) -> int:
    """Run `mailqueue worker ARGUMENTS` in one process, which is not started again; return its exit
    code, or minus the signal that ended it.
    """
    memory, forks = InProgress(), ForkServer()
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            process = await forks.start([*arguments, f"--child={uuid4()}"], memory.fd)
            return await process.wait()
    finally:
        await forks.close()
        memory.close()


async def processes(conn: Conn) -> list[int]:
    """Return the process ids of workers that have not ended, as recorded."""
    query = "SELECT pid FROM mailqueue.workers WHERE stopped_at IS NULL AND lost_at IS NULL"
    return [row[0] for row in await make.rows(conn, f"{query} ORDER BY id")]


async def deaths(conn: Conn) -> int:
    """Return how many workers were declared lost, without those of a single mail."""
    query = (
        "SELECT count(*) FROM mailqueue.workers"
        " WHERE lost_at IS NOT NULL AND kind <> 'custom-smtp-mail'"
    )
    found: int = await make.scalar(conn, query)
    return found


def end(pid: int, by: signal.Signals) -> None:
    """Send a signal to a worker, if it is running."""
    try:
        os.kill(pid, by)
    except ProcessLookupError:
        return


async def until(
    condition: Callable[[], Awaitable[bool]],
    tell: Callable[[], Awaitable[object]],
    *,
    seconds: float = PATIENCE_SECONDS,
) -> None:
    """Wait for a condition; `tell` returns what to report if it is not met."""
    last = time.monotonic() + seconds
    while not await condition():
        if time.monotonic() > last:
            pytest.fail(f"not within {seconds:.0f} s: {await tell()}")
        await asyncio.sleep(0.05)
