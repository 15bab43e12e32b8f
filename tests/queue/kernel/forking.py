"""The tests' side of `preloaded`: starts fork servers from the one process that has all loaded."""

import asyncio
import atexit
import os
import signal
import socket
import subprocess
import sys
from functools import cache

from mailqueue.core.crashpoints import VARIABLE
from mailqueue.core.json.writing import write_json
from mailqueue.process.starting.client import _RunningServer
from tests.queue.kernel.preloaded import LOADED, UNREACHED

LOAD_SECONDS = 120.0
"""Limit of the wait for its modules on a busy machine."""
PYTHON = sys.executable
"""Before a test names a program of its own."""


class Forked:
    """A fork server, as `asyncio.subprocess.Process` tells of one that was executed."""

    def __init__(self, pid: int, process: int) -> None:
        self.pid = pid
        self._process = process
        self._has_ended = asyncio.Event()
        asyncio.get_running_loop().add_reader(process, self._note_end)

    def kill(self) -> None:
        """End it, unless it has ended."""
        if not self._has_ended.is_set():
            signal.pidfd_send_signal(self._process, signal.SIGKILL)

    async def wait(self) -> None:
        """Wait for its end."""
        await self._has_ended.wait()

    def _note_end(self) -> None:
        asyncio.get_running_loop().remove_reader(self._process)
        os.close(self._process)
        self._has_ended.set()


@cache
def preloaded() -> socket.socket:
    """Return the connection to the process of this run that has all loaded, which ends with it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    process = subprocess.Popen(
        [PYTHON, "-m", "tests.queue.kernel.preloaded", str(theirs.fileno())],
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


async def start_server() -> _RunningServer:
    """Fork a fork server, in place of `mailqueue.process.starting.client._start_server`."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    connection = preloaded()
    socket.send_fds(connection, [write_json(dict(os.environ))], [theirs.fileno(), 2])
    theirs.close()
    pid, files, _, _ = socket.recv_fds(connection, 32, 1, socket.MSG_CMSG_CLOEXEC)
    server: _RunningServer = _RunningServer(Forked(int(pid), files[0]), ours)  # type: ignore[arg-type]
    return server
