"""The parent's side: asks the server process for worker processes and follows their ends."""

import asyncio
import os
import signal
import socket
import sys
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Self

import orjson

from mailqueue.core.json.writing import write_json
from mailqueue.process.starting.server import MAX_MESSAGE_BYTES
from mailqueue.queue.in_progress import EXIT_UNKNOWN
from mailqueue.telemetry.log import get_logger
from mailqueue.telemetry.threshold import THRESHOLD

PROGRAM = "mailqueue.cli.worker.forked"
"""Module that the server process runs."""
START_SECONDS = 60.0
"""Time for the server process to load its modules and fork; then another is started."""

log = get_logger(__name__)


class Fork:
    """A forked worker process. Its standard input ends when this process dies."""

    def __init__(self, pid: int, process: int, standard_input: int) -> None:
        self.pid = pid
        self._process = process
        self._standard_input = standard_input
        self._code: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    @property
    def has_ended(self) -> bool:
        """Return whether its exit code is known."""
        return self._code.done()

    async def wait(self) -> int:
        """Wait for its end; return its exit code, or minus the signal that ended it."""
        return await asyncio.shield(self._code)

    def terminate(self) -> None:
        """Ask it to stop, unless it has ended."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it, unless it has ended."""
        self._signal(signal.SIGKILL)

    def match_log(self) -> None:
        """Have it log lines of the level that this process logs, unless it has ended."""
        self._signal(signal.SIGUSR1 if THRESHOLD.is_lowered else signal.SIGUSR2)

    def note_end(self, code: int) -> None:
        """Note its exit code."""
        self._code.set_result(code)
        os.close(self._process)
        os.close(self._standard_input)

    def watch_end(self) -> None:
        """Notice its end from here: the server process, which would report it, is gone."""
        asyncio.get_running_loop().add_reader(self._process, self._read_end)

    def _read_end(self) -> None:
        asyncio.get_running_loop().remove_reader(self._process)
        code = EXIT_UNKNOWN
        with suppress(ChildProcessError):  # as process 1 this process has adopted it
            code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        self.note_end(code)

    def _signal(self, number: signal.Signals) -> None:
        if not self.has_ended:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._process, number)


class ForkServer:
    """The server process; it starts with `load` or the first worker process, and again after its
    end. As a context manager it is closed at the end.
    """

    def __init__(self) -> None:
        self._server: _RunningServer | None = None
        self._turn = asyncio.Lock()
        self._forks = list[Fork]()
        THRESHOLD.follow(self._match_logs)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def load(self) -> None:
        """Start the server process, which loads its modules meanwhile; what stands in the way is
        told by `start`, which tries again.
        """
        with suppress(OSError):
            async with self._turn:
                self._server = self._server or await _start_server()

    async def start(self, arguments: Sequence[str], memory: int) -> Fork:
        """Start `mailqueue worker ARGUMENTS` with this memory file.

        Raises:
            OSError: no process can be started now.
        """
        async with self._turn:
            if self._server is None or self._server.is_lost:
                self._server = await _start_server()
            server = self._server
        try:
            async with asyncio.timeout(START_SECONDS):
                fork = await server.start(arguments, memory)
        except TimeoutError:
            server.kill()
            raise OSError(f"no process was started within {START_SECONDS:.0f} s") from None
        self._forks = [fork, *(one for one in self._forks if not one.has_ended)]
        if THRESHOLD.is_lowered:
            fork.match_log()
        return fork

    async def close(self) -> None:
        """End the server process, after processes that still run, which are asked to stop."""
        THRESHOLD.leave(self._match_logs)
        if self._server is not None:
            await self._server.close()

    def _match_logs(self) -> None:
        for fork in self._forks:
            fork.match_log()


async def _start_server() -> "_RunningServer":
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", PROGRAM, str(theirs.fileno())),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=sys.stderr,
            pass_fds=(theirs.fileno(),),
        )
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    return _RunningServer(process, ours)


class _RunningServer:
    """A running server process and the connection to it."""

    def __init__(self, process: asyncio.subprocess.Process, sock: socket.socket) -> None:
        self.is_lost = False
        self._process = process
        self._sock = sock
        self._requests = deque[tuple[asyncio.Future[Fork], int]]()  # in order of answers
        self._processes = dict[int, Fork]()
        asyncio.get_running_loop().add_reader(sock, self._read)

    async def start(self, arguments: Sequence[str], memory: int) -> Fork:
        """Start a process.

        Raises:
            OSError: the server process cannot fork, or has ended.
        """
        request: asyncio.Future[Fork] = asyncio.get_running_loop().create_future()
        theirs, ours = os.pipe()
        try:
            socket.send_fds(self._sock, [write_json(arguments)], [theirs, memory])
        except OSError:
            os.close(ours)
            raise
        finally:
            os.close(theirs)
        self._requests.append((request, ours))
        return await request

    def kill(self) -> None:
        """End the server process, which does not answer."""
        with suppress(ProcessLookupError):
            self._process.kill()

    async def close(self) -> None:
        """End the server process."""
        left = [one for one in self._processes.values() if not one.has_ended]
        self._lose("the workers stop")
        for process in left:
            process.terminate()
        if not left:
            self.kill()
        await self._process.wait()  # it ends those that do not stop

    def _read(self) -> None:
        """Read one message of the server process."""
        try:
            message, files, _, _ = socket.recv_fds(
                self._sock, MAX_MESSAGE_BYTES, 1, socket.MSG_CMSG_CLOEXEC
            )
        except BlockingIOError:
            return
        except OSError:
            message, files = b"", []
        if not message:
            log.error("worker.fork_server_lost", pid=self._process.pid)
            self._lose("the process that starts workers ended")
            return
        answer = orjson.loads(message)
        if "ended" in answer:
            if (process := self._processes.pop(answer["ended"], None)) is not None:
                process.note_end(answer["code"])
            return
        request, standard_input = self._requests.popleft()
        if "refused" in answer:
            os.close(standard_input)
            if not request.done():
                request.set_exception(OSError(answer["refused"]))
        elif request.done():  # given up: the process finds its standard input closed and stops
            for file in (standard_input, *files):
                os.close(file)
        else:
            process = Fork(answer["started"], files[0], standard_input)
            self._processes[process.pid] = process
            request.set_result(process)

    def _lose(self, reason: str) -> None:
        """Close the connection; the ends of processes are noticed from here from now on."""
        if self.is_lost:
            return
        self.is_lost = True
        asyncio.get_running_loop().remove_reader(self._sock)
        self._sock.close()
        for request, standard_input in self._requests:
            os.close(standard_input)
            if not request.done():
                request.set_exception(OSError(reason))
        for process in self._processes.values():
            process.watch_end()
        self._processes.clear()
