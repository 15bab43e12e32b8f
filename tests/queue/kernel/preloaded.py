"""Forks the fork servers of tests: `python -m tests.queue.kernel.preloaded FD`.

What worker processes use is loaded once in each process of a run, not anew by each test.
"""

import os
import socket
import sys

import orjson

from mailqueue.cli.worker import forked
from mailqueue.core import crashpoints
from mailqueue.process.starting.client import PROGRAM
from tests.queue.kernel import child

UNREACHED = "never kill 1"
"""Crash point with which the modules are loaded: each fork sets its own."""
MAX_ENVIRONMENT_BYTES = 1 << 16
LOADED = b"loaded"


def serve(descriptor: int) -> None:
    """Fork a fork server for each message, which is its environment as JSON; its files are the
    connection to its parent and its standard error.

    The answer is its process id with a file descriptor of the process. Ends with the connection.
    """
    connection = socket.socket(fileno=descriptor)
    forked.load_all()
    connection.send(LOADED)
    while True:
        environment, files, _, _ = socket.recv_fds(connection, MAX_ENVIRONMENT_BYTES, 2)
        _reap()
        if not environment:
            return
        pid = os.fork()
        if pid == 0:
            connection.close()
            _become(orjson.loads(environment), *files)
            return
        process = os.pidfd_open(pid)
        socket.send_fds(connection, [str(pid).encode()], [process])
        for file in (process, *files):
            os.close(file)


def _reap() -> None:
    """Let fork servers that have ended go."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


def _become(environment: dict[str, str], descriptor: int, standard_error: int) -> None:
    """Turn this fork into a fork server."""
    os.environ.clear()
    os.environ.update(environment)
    for file in (1, 2):
        os.dup2(standard_error, file)
    os.close(standard_error)
    armed = getattr(crashpoints.reach, "__self__")  # noqa: B009  # of UNREACHED
    armed.__init__(os.environ.get(crashpoints.VARIABLE, UNREACHED))
    child.run(PROGRAM, str(descriptor))


if __name__ == "__main__":
    serve(int(sys.argv[1]))
