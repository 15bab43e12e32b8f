"""Reports the state of a process to systemd: ready, alive, stopping. Does nothing elsewhere.

The protocol is sd_notify(3): datagrams to the socket in NOTIFY_SOCKET.
"""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from mailqueue.telemetry.log import get_logger

log = get_logger(__name__)


@asynccontextmanager
async def supervised(
    stop: asyncio.Event, *, address: str | None = None, watchdog_us: int | None = None
) -> AsyncIterator[Callable[[], None]]:
    """Report that the process stops, and after a call of the yielded function that it is alive.

    It is alive while its event loop runs. Without `address` the environment decides whether systemd
    is notified.
    """
    socket_name = address or os.environ.get("NOTIFY_SOCKET")
    if not socket_name:
        yield _noop
        return
    every = watchdog_us if watchdog_us is not None else _watchdog_us()
    ready, stopped = asyncio.Event(), asyncio.Event()
    tasks = [asyncio.create_task(_notify_on_stop(socket_name, stop, stopped))]
    if every:
        tasks.append(asyncio.create_task(_notify_watchdog(socket_name, ready, every / 1_000_000)))

    def notify_ready() -> None:
        ready.set()
        _sd_notify(socket_name, "READY=1")

    try:
        yield notify_ready
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if not stopped.is_set():
            _sd_notify(socket_name, "STOPPING=1")


def _noop() -> None:
    return


def _watchdog_us() -> int:
    """Return systemd's watchdog interval in microseconds; 0: none, or for another process."""
    if os.environ.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return 0
    given = os.environ.get("WATCHDOG_USEC", "")
    return int(given) if given.isdigit() else 0


async def _notify_on_stop(address: str, stop: asyncio.Event, stopped: asyncio.Event) -> None:
    await stop.wait()
    stopped.set()
    _sd_notify(address, "STOPPING=1")


async def _notify_watchdog(address: str, ready: asyncio.Event, seconds: float) -> None:
    await ready.wait()
    while True:
        _sd_notify(address, "WATCHDOG=1")
        await asyncio.sleep(seconds / 2)


def _sd_notify(address: str, words: str) -> None:
    # A name with a leading @ is in the abstract namespace, whose names begin with NUL.
    name = "\0" + address[1:] if address.startswith("@") else address
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
            sock.setblocking(False)
            sock.sendto(words.encode(), name)
    except OSError as exc:
        log.warning("supervisor.unreachable", error=exc.strerror)
