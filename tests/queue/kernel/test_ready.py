"""A pool of workers is ready when each of its processes has registered, and not before."""

import asyncio
from pathlib import Path

import psycopg
import pytest

from mailqueue.core.queues.registry import QUEUES
from mailqueue.process import pool
from mailqueue.process.child import Children
from mailqueue.process.groups import queue_children
from mailqueue.settings.environment import DatabaseSettings
from tests.queue.kernel.pools import PATIENCE_SECONDS, pool_of, prepare

pytestmark = pytest.mark.anyio
KINDS = (QUEUES[0].name, QUEUES[1].name)


async def test_it_is_told_once_every_process_has_registered(
    database: DatabaseSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(monkeypatch, database, tmp_path)
    registered = list[int]()
    is_ready = asyncio.Event()

    def ready() -> None:
        with psycopg.connect(database.url.reveal()) as looking:
            [(count,)] = looking.execute("SELECT count(*) FROM mailqueue.workers").fetchall()
        registered.append(count)
        is_ready.set()

    groups = [queue_children([name]) for name in KINDS]
    async with pool_of([], tmp_path, groups=groups, ready=ready):
        async with asyncio.timeout(PATIENCE_SECONDS):
            await is_ready.wait()
        assert registered == [len(KINDS)]


async def test_a_process_that_cannot_start_is_not_waited_for_without_end(
    database: DatabaseSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(monkeypatch, database, tmp_path)
    monkeypatch.setattr(pool, "READY_SECONDS", 1.0)
    is_ready = asyncio.Event()

    async with pool_of([], tmp_path, groups=[Children(("unknown",))], ready=is_ready.set):
        async with asyncio.timeout(PATIENCE_SECONDS):
            await is_ready.wait()


async def test_a_pool_that_is_stopped_before_is_never_ready(
    database: DatabaseSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(monkeypatch, database, tmp_path)
    told = list[bool]()

    async with pool_of(
        [], tmp_path, groups=[Children(("unknown",))], ready=lambda: told.append(True)
    ):
        await asyncio.sleep(0)
    assert told == []
