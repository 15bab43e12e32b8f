"""The tests' side of `preloaded`: starts processes from the one that has all loaded."""

import asyncio
import atexit
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache

import orjson

from mailqueue.core.crashpoints import VARIABLE
from mailqueue.process.starting.client import _RunningServer
from tests.forks.preloaded import LOADED, UNREACHED

LOAD_SECONDS = 120.0
"""Limit of the wait for its modules on a busy machine."""
PYTHON = sys.executable
"""Before a test names a program of its own."""
_turn = threading.Lock()


class Forked:
    """A forked process, as `asyncio.subprocess.Process` tells of one that was executed."""

    def __init__(self, pid: int, end: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._end = end
        self._has_ended = asyncio.Event()
        asyncio.get_running_loop().add_reader(end, self._note_end)

    def terminate(self) -> None:
        """Ask it to stop, unless it has ended."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it, unless it has ended."""
        self._signal(signal.SIGKILL)

    async def wait(self) -> int:
        """Wait for its end; return its exit code, or minus the signal that ended it."""
        await self._has_ended.wait()
        assert self.returncode is not None
        return self.returncode

    def _signal(self, number: signal.Signals) -> None:
        if self.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def _note_end(self) -> None:
        asyncio.get_running_loop().remove_reader(self._end)
        self.returncode = int(os.read(self._end, 16))
        os.close(self._end)
        self._has_ended.set()


async def start_command(
    arguments: Sequence[str], environment: Mapping[str, str], output: int
) -> Forked:
    """Start `mailqueue ARGUMENTS`, which writes what it says to the file `output`."""
    return await _forked(arguments, environment, [output])


async def start_server() -> _RunningServer:
    """Start a fork server, in place of `mailqueue.process.starting.client._start_server`."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    with theirs:
        process = await _forked((), os.environ, [theirs.fileno(), 2])
    server: _RunningServer = _RunningServer(process, ours)  # type: ignore[arg-type]
    return server


async def _forked(
    arguments: Sequence[str], environment: Mapping[str, str], files: Sequence[int]
) -> Forked:
    reading, writing = os.pipe()
    order = orjson.dumps({"arguments": arguments, "environment": dict(environment)})
    try:
        pid = await asyncio.to_thread(_order, order, [*files, writing])
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    return Forked(pid, reading)


def _order(order: bytes, files: Sequence[int]) -> int:
    with _turn:
        connection = preloaded()
        socket.send_fds(connection, [order], files)
        return int(connection.recv(32))


@cache
def preloaded() -> socket.socket:
    """Return the connection to the process of this run that has all loaded, which ends with it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    process = subprocess.Popen(
        [PYTHON, "-m", "tests.forks.preloaded", str(theirs.fileno())],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=(theirs.fileno(),),
        env=os.environ | {VARIABLE: UNREACHED},
    )
    theirs.close()

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    ours.settimeout(LOAD_SECONDS)
    assert ours.recv(len(LOADED)) == LOADED
    return ours
