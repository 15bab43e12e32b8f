"""The tests' side of `preloaded`: starts commands from the one process that has all loaded."""

import asyncio
import atexit
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Protocol

import orjson

from tests.concurrency.preloaded import LOADED

LOAD_SECONDS = 120.0
"""Limit of the wait for its modules on a busy machine."""
_turn = threading.Lock()


class Process(Protocol):
    """What tests do with a process of `asyncio.subprocess`, or with one that was forked."""

    @property
    def pid(self) -> int:
        """Return its id."""

    @property
    def returncode(self) -> int | None:
        """Return its exit code, or minus the signal that ended it; None while it runs."""

    def terminate(self) -> None:
        """Ask it to stop."""

    def kill(self) -> None:
        """End it."""

    async def wait(self) -> int:
        """Wait for its end; return its exit code."""


class Forked:
    """A running command."""

    def __init__(self, pid: int, end: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._end = end
        self._has_ended = asyncio.Event()
        asyncio.get_running_loop().add_reader(end, self._note_end)

    def terminate(self) -> None:
        """Ask it to stop."""
        os.kill(self.pid, signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        os.kill(self.pid, signal.SIGKILL)

    async def wait(self) -> int:
        """Wait for its end; return its exit code."""
        await self._has_ended.wait()
        assert self.returncode is not None
        return self.returncode

    def _note_end(self) -> None:
        asyncio.get_running_loop().remove_reader(self._end)
        self.returncode = int(os.read(self._end, 16))
        os.close(self._end)
        self._has_ended.set()


async def fork(arguments: Sequence[str], environment: Mapping[str, str], output: int) -> Forked:
    """Start `mailqueue ARGUMENTS`, which writes what it says to the file `output`."""
    reading, writing = os.pipe()
    try:
        pid = await asyncio.to_thread(_order, arguments, environment, (output, writing))
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    return Forked(pid, reading)


def _order(arguments: Sequence[str], environment: Mapping[str, str], files: Sequence[int]) -> int:
    with _turn:
        connection = _preloaded()
        order = orjson.dumps({"arguments": arguments, "environment": environment})
        socket.send_fds(connection, [order], files)
        return int(connection.recv(32))


@cache
def _preloaded() -> socket.socket:
    """Return the connection to the process of this run that has all loaded, which ends with it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.concurrency.preloaded", str(theirs.fileno())],
        stdin=subprocess.DEVNULL,
        pass_fds=(theirs.fileno(),),
    )
    theirs.close()

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    ours.settimeout(LOAD_SECONDS)
    assert ours.recv(len(LOADED)) == LOADED
    return ours
