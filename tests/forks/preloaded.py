"""Forks what tests start: `python -m tests.forks.preloaded FD`.

What worker processes use is loaded once in each process of a run: loading it anew would cost more
than most tests do.
"""

import asyncio
import os
import select
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress

import orjson

from mailqueue.cli.main import main
from mailqueue.cli.worker import forked
from mailqueue.core import crashpoints
from mailqueue.process.starting import client
from tests.queue.kernel import child

UNREACHED = "never kill 1"
"""Crash point with which the modules are loaded: each fork sets its own."""
MAX_ORDER_BYTES = 1 << 16
MAX_FILES = 3
LOADED = b"loaded"


class Spare:
    """A child that becomes a fork server once it is asked, as `client` knows such a process."""

    def __init__(self, pid: int, asking: socket.socket) -> None:
        self.pid = pid
        self._asking = asking

    async def start(self) -> "client._RunningServer":
        """Ask it, in place of `client._start_server`, which starts those that follow."""
        client._start_server = _START
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        socket.send_fds(self._asking, [LOADED], [theirs.fileno()])
        theirs.close()
        self._asking.close()
        return client._RunningServer(self, ours)  # type: ignore[arg-type]

    def kill(self) -> None:
        """End it."""
        os.kill(self.pid, signal.SIGKILL)

    async def wait(self) -> None:
        """Wait for its end."""
        await asyncio.to_thread(os.waitpid, self.pid, 0)


_START = client._start_server


def serve(descriptor: int) -> None:
    """Fork a process for each message: its environment as JSON, with its files and one that takes
    its end.

    With arguments it becomes `mailqueue ARGUMENTS`, which writes to its one file. Without, it
    becomes a fork server; its files are the connection to its parent and its standard error.

    The answer is its process id; once it has ended, its exit code is written to the last file.
    Ends with the connection.
    """
    connection = socket.socket(fileno=descriptor)
    forked.load_all()
    connection.send(LOADED)
    running = dict[int, tuple[int, int]]()  # process id and file of the end, by process file
    while True:
        ready, _, _ = select.select((connection.fileno(), *running), (), ())
        for process in running.keys() & set(ready):
            _report(process, *running.pop(process))
        if connection.fileno() not in ready:
            continue
        order, received, _, _ = socket.recv_fds(connection, MAX_ORDER_BYTES, MAX_FILES)
        if not order:
            return
        *files, end = received
        pid = os.fork()
        if pid == 0:
            for file in (connection.detach(), end, *running, *(end for _, end in running.values())):
                os.close(file)
            _become(files, **orjson.loads(order))
            return
        for file in files:
            os.close(file)
        running[os.pidfd_open(pid)] = pid, end
        connection.send(str(pid).encode())


def _report(process: int, pid: int, end: int) -> None:
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with suppress(BrokenPipeError):  # the test has failed meanwhile
        os.write(end, str(code).encode())
    for file in (process, end):
        os.close(file)


def _become(files: Sequence[int], arguments: list[str], environment: dict[str, str]) -> None:
    """Turn this fork into what was ordered."""
    os.environ.clear()
    os.environ.update(environment)
    armed = getattr(crashpoints.reach, "__self__")  # noqa: B009  # of UNREACHED
    armed.__init__(os.environ.get(crashpoints.VARIABLE, UNREACHED))
    *others, output = files
    for standard in (1, 2):
        os.dup2(output, standard)
    os.close(output)
    if arguments:
        _run(arguments)
    else:
        child.run(client.PROGRAM, *map(str, others))


def _run(arguments: list[str]) -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    theirs, ours = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    pid = os.fork()
    if pid == 0:
        ours.close()
        _serve_once_asked(theirs)
        return
    theirs.close()
    client._start_server = Spare(pid, ours).start
    main(arguments, prog_name="mailqueue")


def _serve_once_asked(asked: socket.socket) -> None:
    """Be a fork server; end without one if the parent ends before it asks."""
    os.dup2(2, 1)
    _, files, _, _ = socket.recv_fds(asked, len(LOADED), 1)
    asked.close()
    for file in files:
        forked.run(file)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
