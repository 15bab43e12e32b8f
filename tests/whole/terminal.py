"""A terminal that a process runs on, which the test can close."""

import fcntl
import os
import pty
import signal
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def on_terminal() -> Iterator[tuple[Callable[[], None], dict[str, Any]]]:
    """Yield a function that closes the terminal, and the arguments to run a process on it."""
    ours, theirs = pty.openpty()
    is_open = [True]

    def take() -> None:
        os.setsid()
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)

    def close() -> None:
        if is_open.pop():
            os.close(ours)
        is_open.append(False)

    try:
        options = {"stdin": theirs, "stderr": theirs, "preexec_fn": take, "pass_fds": (theirs,)}
        yield close, options
    finally:
        close()
        os.close(theirs)


def ignore_hang_up() -> None:
    """Ignore SIGHUP, as nohup does before it runs a program."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
