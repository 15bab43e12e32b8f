"""Run the compilation and preview of templates in restricted processes with time limits."""

import asyncio
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson

import mailqueue
from mailqueue.core.project_turns import ProjectTurns
from mailqueue.rendering.faults import Exceeded, TemplateFault
from mailqueue.rendering.process.frames import LENGTH_BYTES

DEADLINE_SECONDS = 20.0
"""Limit of a job in seconds of wall time, for busy machines; the limit of CPU time is far lower."""
MAX_ANSWER_BYTES = 64 * 1024 * 1024
PROCESSES = max(2, min(4, (os.cpu_count() or 1) // 2))
"""Most processes of a parent; one project has at most half of them at the same time."""

_NO_PROJECT = UUID(int=0)

Process = subprocess.Popen[bytes]


class CompileProcess:
    """A process that runs one job after the other, and others for jobs that come meanwhile.

    A job that kills its process affects no other job. A process starts with the first job for which
    none is idle, and ends with `close`, or when it is garbage collected.
    """

    def __init__(self) -> None:
        self._idle: list[_Child] = []  # the one used last is used again
        self._turns = ProjectTurns("have a template compiled, shown or compared", at_once=PROCESSES)

    async def call(
        self, job: str, values: Mapping[str, Any], *, project_id: UUID | None = None
    ) -> dict[str, Any]:
        """Run a job in the turn of its project and return its result.

        Raises:
            TooManyRequests: too many jobs of the project wait already.
            TemplateFault: the fault in the template.
            Exceeded: it took more time or memory than allowed.
        """
        try:
            request = orjson.dumps({"job": job, **values})
        except orjson.JSONEncodeError as exc:  # numbers and nesting that JSON cannot hold
            raise TemplateFault(f"a value cannot be written as JSON: {exc}") from None
        async with self._turns.turn(project_id or _NO_PROJECT):
            child = self._idle.pop() if self._idle else _Child()
            try:
                answer = await child.answer(request)
            finally:
                self._idle.append(child)
        if (fault := answer.get("fault")) is not None:
            kind = Exceeded if fault["is_excess"] else TemplateFault
            raise kind(fault["why"], part=fault["part"], line=fault["line"])
        found: dict[str, Any] = answer["found"]
        return found

    async def close(self) -> None:
        """End all processes, after their jobs."""
        async with AsyncExitStack() as stack:
            for number in range(1, PROCESSES + 1):
                await stack.enter_async_context(self._turns.turn(UUID(int=number)))
            while self._idle:
                await self._idle.pop().close()


class _Child:
    """A process that is started for the first request, and again after it has ended."""

    def __init__(self) -> None:
        self.process: Process | None = None

    async def answer(self, request: bytes) -> dict[str, Any]:
        """Return the answer to a request; the process ends where the caller is cancelled."""
        doing = asyncio.ensure_future(asyncio.to_thread(self._done, request))
        try:
            return await asyncio.shield(doing)
        except asyncio.CancelledError:
            if self.process is not None:
                self.process.kill()
            with suppress(Exceeded):
                await doing
            raise

    async def close(self) -> None:
        """End the process."""
        if self.process is not None:
            await asyncio.to_thread(_end, self.process)
            self.process = None

    def _done(self, request: bytes) -> dict[str, Any]:
        process = self.process
        if process is None or process.poll() is not None:
            process = self.process = _started()
            weakref.finalize(self, _end, process)
        late = threading.Timer(DEADLINE_SECONDS, process.kill)
        late.start()
        try:
            return _exchanged(process, request)
        except (OSError, EOFError):
            _end(process)
            raise Exceeded("it takes more time or memory than a template may") from None
        finally:
            late.cancel()


def _exchanged(process: Process, request: bytes) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(len(request).to_bytes(LENGTH_BYTES) + request)
    process.stdin.flush()
    length = int.from_bytes(_read(process, LENGTH_BYTES))
    if length > MAX_ANSWER_BYTES:
        raise EOFError
    answer: dict[str, Any] = orjson.loads(_read(process, length))
    return answer


def _read(process: Process, count: int) -> bytes:
    assert process.stdout is not None
    found = process.stdout.read(count)
    if len(found) < count:
        raise EOFError
    return found


def _end(process: Process) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):  # input that it has not read
                pipe.close()


def _started() -> Process:
    # An empty environment: no template must find a connection string in it.
    package = Path(mailqueue.__file__).parent.parent
    return subprocess.Popen(
        [sys.executable, "-m", "mailqueue.rendering.process.child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={"PYTHONPATH": str(package), "PYTHONUTF8": "1"},
        start_new_session=True,  # so that Ctrl-C reaches only the parent
    )
