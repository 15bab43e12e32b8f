"""The process that forks worker processes, run by `mailqueue.cli.worker.forked`.

Its modules are loaded, so that a start takes no import. It has one thread, no event loop and no
connection but the one to its parent, so that a fork is safe. A request is a message with the
arguments of the process, its standard input and its memory file; the answer has the process id and
a file descriptor of the process. The exit code follows when the process ends.
"""

import gc
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import orjson

from mailqueue.core.json.writing import write_json
from mailqueue.process.signals import OF_THE_LOG

MAX_MESSAGE_BYTES = 1 << 16
"""Size of a message of the parent or the server."""
LEFT_SECONDS = 60.0
"""Time for processes to end once the parent is gone; then they are killed."""
_TO_THE_PARENT = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_GONE = select.POLLHUP | select.POLLERR


def serve(descriptor: int) -> list[str] | None:
    """Fork a process for each request until the parent is gone and all processes have ended.

    `descriptor` is a socket that is connected to the parent.

    Return None then; in a forked process, return its arguments at once. Signals that a terminal or
    a service manager sends to all processes of a service are left to the parent.
    """
    connection = socket.fromfd(descriptor, socket.AF_UNIX, socket.SOCK_SEQPACKET)
    os.close(descriptor)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, (*_TO_THE_PARENT, *OF_THE_LOG))
    gc.collect()
    gc.freeze()  # a collection in a fork would copy the memory that the processes share
    children = dict[int, int]()  # process ids by the file descriptors of processes
    last: float | None = None
    while last is None or children:
        ready = _ready([*children] if last is not None else [*children, connection.fileno()], last)
        for process in ready.keys() & children.keys():
            _report(connection, children.pop(process), process)
        if last is not None:
            if time.monotonic() >= last:
                for process in children:
                    signal.pidfd_send_signal(process, signal.SIGKILL)
            continue
        event = ready.get(connection.fileno(), 0)
        request, files = None, list[int]()
        if event and not event & _GONE:
            request, files, _, _ = socket.recv_fds(
                connection, MAX_MESSAGE_BYTES, 2, socket.MSG_CMSG_CLOEXEC
            )
        if event and not request:
            last = time.monotonic() + LEFT_SECONDS
        if request:
            pid = _forked(connection)
            if pid == 0:
                connection.close()
                for process in children:
                    os.close(process)
                return _begin(orjson.loads(request), files, mask)
            if pid is not None:
                _answer(connection, children, pid)
            for file in files:
                os.close(file)
    return None


def _ready(files: Sequence[int], last: float | None) -> dict[int, int]:
    """Wait for events of these file descriptors, until `last` at most; return them."""
    poll = select.poll()
    for file in files:
        poll.register(file, select.POLLIN)
    if last is None:
        return dict(poll.poll())
    # Once the time is over, those that were killed are waited for.
    left = last - time.monotonic()
    return dict(poll.poll(left * 1000 if left > 0 else None))


def _forked(connection: socket.socket) -> int | None:
    """Fork; return the process id, 0 in the new process, None if the system refused."""
    try:
        return os.fork()
    except OSError as exc:
        _send(connection, {"refused": exc.strerror})
        return None


def _answer(connection: socket.socket, children: dict[int, int], pid: int) -> None:
    process = os.pidfd_open(pid)
    children[process] = pid
    _send(connection, {"started": pid}, process)


def _report(connection: socket.socket, pid: int, process: int) -> None:
    """Read the exit code of a process that has ended, and tell the parent."""
    _, status = os.waitpid(pid, 0)
    os.close(process)
    _send(connection, {"ended": pid, "code": os.waitstatus_to_exitcode(status)})


def _send(connection: socket.socket, message: dict[str, object], *files: int) -> None:
    with suppress(OSError):  # the parent is gone
        socket.send_fds(connection, [write_json(message)], files)


def _begin(
    arguments: Sequence[str], files: Sequence[int], mask: set[int | signal.Signals]
) -> list[str]:
    """Turn this fork into a worker process; return its arguments."""
    standard_input, memory = files
    os.dup2(standard_input, sys.stdin.fileno())
    os.close(standard_input)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # its parent stops it
    # Signals for the log wait until the process has handlers for them.
    signal.pthread_sigmask(signal.SIG_SETMASK, {*mask, *OF_THE_LOG})
    with suppress(OSError):  # the name that ps and top show
        Path("/proc/self/comm").write_text(f"mailqueue {arguments[0]}"[:15])
    words = ["worker", *arguments, f"--in-progress={memory}"]
    sys.argv[1:] = words
    return words
