"""A program that forks processes as the real one does; they do what their arguments say."""

import asyncio
import errno
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from mailqueue.process import signals
from mailqueue.process.starting import server
from mailqueue.telemetry.threshold import THRESHOLD


def print_state() -> None:
    """Print what the process was given to its memory file, and end when its input ends."""
    memory = int(sys.argv[-1].partition("=")[2])
    files = [Path(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")]
    kinds = [str(file.readlink()).partition(":")[0] for file in files if file.is_symlink()]
    kinds = [kind for kind in kinds if kind in ("socket", "anon_inode")]
    mask = sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ()))
    os.write(memory, repr((sys.argv[1:-1], kinds, mask)).encode())
    sys.stdin.read()


def log_what_is_told() -> None:
    """Write to the memory file whether all lines are logged, at the start and at each change."""
    memory = int(sys.argv[-1].partition("=")[2])

    def write() -> None:
        os.write(memory, b"all " if THRESHOLD.is_lowered else b"some ")

    async def run() -> None:
        THRESHOLD.follow(write)
        async with signals.stop_signal(ends_with_parent=True) as stop:
            write()
            await stop.wait()

    asyncio.run(run())


def ignore_end() -> None:
    """Neither stop when asked to nor when the input ends."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(3600)


WAYS: Mapping[str, Callable[[], None]] = {
    "print": print_state,
    "log": log_what_is_told,
    "ignore": ignore_end,
    "wait": lambda: sys.exit(bool(sys.stdin.read())),
    "leave": lambda: sys.exit(3),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "raise": lambda: threading.Thread().join(),  # before its start: an error
}


def main() -> None:
    """Fork processes until the parent is gone."""
    server.LEFT_SECONDS = float(os.environ.get("MAILQUEUE_TEST_LEFT", "60"))
    if "MAILQUEUE_TEST_REFUSES" in os.environ:
        fork = os.fork

        def refusing() -> int:
            del os.environ["MAILQUEUE_TEST_REFUSES"]
            os.fork = fork
            raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

        os.fork = refusing
    arguments = server.serve(int(sys.argv[1]))
    if arguments is not None:
        WAYS[arguments[1]]()


if __name__ == "__main__":
    main()
