"""Work with its own event loop, which ends with its caller."""

import asyncio
import threading

import pytest

from mailqueue.queue.own_loop import run_in_own_loop

pytestmark = pytest.mark.anyio


async def test_what_it_raises_is_raised_here() -> None:
    async def work() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await run_in_own_loop(work, name="test")


async def test_it_runs_in_another_thread_and_is_cancelled_with_its_caller() -> None:
    where: list[threading.Thread] = []
    is_begun, is_cancelled = threading.Event(), threading.Event()

    async def work() -> None:
        where.append(threading.current_thread())
        is_begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            is_cancelled.set()

    task = asyncio.create_task(run_in_own_loop(work, name="test"))
    assert await asyncio.to_thread(is_begun.wait, 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert is_cancelled.is_set()
    assert where[0] is not threading.current_thread()
