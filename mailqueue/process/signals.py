"""Stops a process on a signal or when its parent is gone; tunes the garbage collector."""

import asyncio
import gc
import os
import resource
import signal
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress

from mailqueue.telemetry.threshold import THRESHOLD

GC_THRESHOLDS = (20_000, 20, 20)
"""Thresholds of the three generations: new objects, then collections of the younger generation."""

OF_THE_LOG = (signal.SIGUSR1, signal.SIGUSR2)
"""Signals that change the level of the log."""


def relax_garbage_collection() -> None:
    """Collect cyclic garbage less often, and exclude everything loaded so far.

    The values of an email are freed by reference counting. With the default thresholds a worker at
    full speed spends a twentieth of its time in the collector.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)


def raise_open_files_limit() -> None:
    """Raise the limit of open files to the hard limit.

    Each sender account keeps a connection open for a while after its last email.
    """
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # some systems allow less than their hard limit
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


@asynccontextmanager
async def stop_signal(*, ends_with_parent: bool = False) -> AsyncIterator[asyncio.Event]:
    """Yield an event that SIGTERM, SIGINT and SIGHUP set; sending one again has no effect.

    Meanwhile SIGUSR1 has all lines logged, and SIGUSR2 those of the configured level again.

    With `ends_with_parent` the end of standard input sets it too: a parent holds the other end, so
    it closes however the parent dies. SIGINT and SIGHUP, which a terminal sends to all its
    processes, are then left to the parent, which stops its children. SIGHUP stays ignored under
    nohup.
    """
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    on_terminal = [
        stream for stream in (1, 2) if os.isatty(stream)
    ]  # once it has hung up, isatty is False

    def hang_up() -> None:
        _write_nowhere(on_terminal)
        if not ends_with_parent:
            stop.set()

    handlers: dict[int, Callable[[], None]] = {
        signal.SIGTERM: stop.set,
        signal.SIGUSR1: THRESHOLD.lower,
        signal.SIGUSR2: THRESHOLD.restore,
    }
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        handlers[signal.SIGHUP] = hang_up
    if ends_with_parent:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        loop.add_reader(sys.stdin.fileno(), _stop_at_end, loop, stop)
    else:
        handlers[signal.SIGINT] = stop.set
    for number, handler in handlers.items():
        loop.add_signal_handler(number, handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, OF_THE_LOG)
    try:
        yield stop
    finally:
        for number in handlers:
            loop.remove_signal_handler(number)
        for number in OF_THE_LOG:  # they would end the rest of the shutdown
            signal.signal(number, signal.SIG_IGN)
        if signal.SIGHUP in handlers:  # the rest of the shutdown is not interrupted
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
