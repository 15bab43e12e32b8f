"""Decides when a process stops, on a signal or when its parent is gone, and how it collects."""

import asyncio
import gc
import os
import resource
import signal
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress

GC_THRESHOLDS = (20_000, 20, 20)
"""New objects before the youngest are looked through, and rounds before the older ones are."""


def relax_garbage_collection() -> None:
    """Look for circles of garbage less often, and never among what is loaded by now.

    A mail's values are freed without it as soon as nobody holds them. As the interpreter sets it
    out, a worker at full speed spends a twentieth of its time looking.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)


def raise_open_files_limit() -> None:
    """Have as many connections as the system allows: it gives fewer to those who do not ask.

    Each sender account keeps one for a while after its mail.
    """
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # some systems allow less than they say
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


@asynccontextmanager
async def stop_signal(*, ends_with_parent: bool = False) -> AsyncIterator[asyncio.Event]:
    """Yield an event that SIGTERM, SIGINT and SIGHUP set; sending one again has no effect.

    With `ends_with_parent` the end of standard input sets it too: a parent holds the other end, so
    it closes however the parent dies. What a terminal sends to all its processes, SIGINT and
    SIGHUP, is left to the parent then, which says stop itself. SIGHUP stays ignored under nohup.
    """
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    on_terminal = [stream for stream in (1, 2) if os.isatty(stream)]  # asked later, it is none

    def hang_up() -> None:
        _write_nowhere(on_terminal)
        if not ends_with_parent:
            stop.set()

    handlers: dict[int, Callable[[], None]] = {signal.SIGTERM: stop.set}
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        handlers[signal.SIGHUP] = hang_up
    if ends_with_parent:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        loop.add_reader(sys.stdin.fileno(), _stop_at_end, loop, stop)
    else:
        handlers[signal.SIGINT] = stop.set
    for number, handler in handlers.items():
        loop.add_signal_handler(number, handler)
    try:
        yield stop
    finally:
        for number in handlers:
            loop.remove_signal_handler(number)
        if signal.SIGHUP in handlers:  # what is left to do and to say is not cut off
            signal.signal(signal.SIGHUP, signal.SIG_IGN)


def _write_nowhere(streams: Sequence[int]) -> None:
    """Discard what is written to a terminal that is gone, where writing would fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in streams:
        os.dup2(nowhere, stream)
    os.close(nowhere)


def _stop_at_end(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    if not os.read(sys.stdin.fileno(), 4096):
        loop.remove_reader(sys.stdin.fileno())
        stop.set()
