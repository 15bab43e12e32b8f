"""Runs a coroutine in a thread with an event loop of its own, where nothing else delays it."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

Work = Callable[[], Coroutine[Any, Any, None]]


async def run_in_own_loop(work: Work, *, name: str) -> None:
    """Run `work` in a thread of its own and wait for its end; cancelling this cancels it.

    Raises:
        Exception: what `work` raises.
    """
    started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = Future()
    ended: Future[None] = Future()

    async def begin() -> None:
        task = asyncio.current_task()
        assert task is not None
        started.set_result((asyncio.get_running_loop(), task))
        await work()

    def run() -> None:
        try:
            asyncio.run(begin())
        except BaseException as exc:
            ended.set_exception(exc)
        else:
            ended.set_result(None)

    # A daemon: the end of the process does not wait for a server that does not answer.
    threading.Thread(target=run, name=name, daemon=True).start()
    over = asyncio.wrap_future(ended)
    try:
        await asyncio.shield(over)
    except asyncio.CancelledError:
        loop, task = await asyncio.wrap_future(started)
        with suppress(RuntimeError):  # it has ended meanwhile
            loop.call_soon_threadsafe(task.cancel)
        await asyncio.wait((over,))
        with suppress(asyncio.CancelledError, Exception):
            over.result()
        raise
