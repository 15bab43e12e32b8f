"""A parent ends a process that stands still by its own fault, and no other."""

import asyncio
import os
import signal
import struct
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from mailqueue.core.queues.registry import queue_named
from mailqueue.process import child
from mailqueue.process.child import (
    OVERDUE_SECONDS,
    STALLED_SECONDS,
    Children,
    Watch,
    _is_stopped,
)
from mailqueue.process.groups import light_children, sending_children
from mailqueue.process.pool import ALONE_SECONDS, MAX_ALONE, _may_start
from mailqueue.queue.heartbeat import HUNG_SECONDS
from mailqueue.queue.in_progress import InProgress
from mailqueue.settings.environment import Settings, load_settings

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def sleeping() -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a process that does nothing."""
    code = "import sys; print(flush=True); sys.stdin.read()"
    pipe = asyncio.subprocess.PIPE
    one = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdin=pipe, stdout=pipe)
    assert one.stdout is not None
    await one.stdout.readline()
    try:
        yield one
    finally:
        one.kill()
        await one.wait()


def turned(memory: InProgress, ago: float) -> None:
    """Note that the event loop turned some seconds ago."""
    struct.pack_into("=d", memory._map, 0, time.monotonic() - ago)


async def test_a_process_of_queues_that_stands_still_is_ended_soon() -> None:
    memory = InProgress()
    async with sleeping() as one:
        watch = Watch(one.pid, memory, stalled_seconds=STALLED_SECONDS)
        assert watch.fault() is None, "it has not begun"
        turned(memory, STALLED_SECONDS / 2)
        assert watch.fault() is None
        turned(memory, STALLED_SECONDS * 2)
        assert watch.fault() == "its event loop did not turn for 4 s"


async def test_waiting_for_a_processor_before_the_first_turn_is_no_excuse_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A row that hangs at once, on a busy machine: rows of others would wait as long as the start
    took.
    """
    memory, waits = InProgress(), iter([0.0, 6.0])
    monkeypatch.setattr(child, "_delay_of", lambda _: next(waits, 6.0))
    async with sleeping() as one:
        watch = Watch(one.pid, memory, stalled_seconds=STALLED_SECONDS)
        turned(memory, 0.1)
        assert watch.fault() is None
        turned(memory, STALLED_SECONDS + 0.5)
        assert watch.fault() is not None


@pytest.mark.parametrize("groups", [sending_children, lambda settings: [light_children(settings)]])
def test_every_process_that_works_on_mail_or_rows_of_many_is_watched_so(
    groups: Callable[[Settings], list[Children]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAILQUEUE_DATABASE_URL", "postgresql://ann@db.example.com/mail")

    found = groups(load_settings(data=tmp_path))

    assert {group.stalled_seconds for group in found} == {STALLED_SECONDS}


async def test_another_process_has_a_minute() -> None:
    memory = InProgress()
    async with sleeping() as one:
        watch = Watch(one.pid, memory, stalled_seconds=None)
        turned(memory, HUNG_SECONDS - 1)
        assert watch.fault() is None
        turned(memory, HUNG_SECONDS + 1)
        assert watch.fault() is not None


async def test_a_process_that_was_stopped_from_outside_is_not_ended_soon() -> None:
    memory = InProgress()
    async with sleeping() as one:
        watch = Watch(one.pid, memory, stalled_seconds=STALLED_SECONDS)
        os.kill(one.pid, signal.SIGSTOP)
        async with asyncio.timeout(60):
            while not _is_stopped(one.pid):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        turned(memory, STALLED_SECONDS * 2)
        assert watch.fault() is None
        os.kill(one.pid, signal.SIGCONT)
        assert watch.fault() is None, "it goes on from here"
        turned(memory, 0)
        assert watch.fault() is None
        turned(memory, STALLED_SECONDS * 2)
        assert watch.fault() is not None, "it stands still by its own fault since"


async def test_a_row_that_ignores_its_limit_ends_its_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec, memory = queue_named("custom-smtp"), InProgress()
    limit = spec.time_limit.total_seconds() + OVERDUE_SECONDS
    clock = time.monotonic
    async with sleeping() as one:
        watch = Watch(one.pid, memory, stalled_seconds=None)
        memory.begin(spec.name, uuid4(), 1)
        memory.begin("email_queue", uuid4(), 1)
        memory.begin("inbound", uuid4(), 1, is_timed=False)
        memory.turn()
        assert watch.fault() is None
        monkeypatch.setattr(time, "monotonic", lambda: clock() + limit + 1)
        monkeypatch.setattr(child, "ROWS_SECONDS", 0.0)
        memory.turn()
        assert watch.fault() == "its handling did not end within its limit of 60 s"


def test_rows_handled_alone_wait_for_no_row_that_takes_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Another process is started once each that runs is busy with a row for a while."""
    clock, running = time.monotonic, [InProgress() for _ in range(MAX_ALONE)]
    assert _may_start([]), "none runs"
    assert not _may_start(running[:1]), "it is being started, and takes one"
    for one in running:
        one.begin("inbound", uuid4(), 1)
    assert not _may_start(running[:1]), "it may end soon"
    monkeypatch.setattr(time, "monotonic", lambda: clock() + ALONE_SECONDS + 1)
    assert _may_start(running[:1])
    assert _may_start(running[: MAX_ALONE - 1])
    assert not _may_start(running), "memory is bounded"
