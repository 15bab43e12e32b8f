"""Has templates compiled and tried in a process that may do little, and not for long."""

import asyncio
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

import mailqueue
from mailqueue.rendering.faults import Exceeded, TemplateFault

DEADLINE_SECONDS = 20.0
"""Of the wall clock, for a machine that is busy: the process gets far less CPU time than that."""
LENGTH_BYTES = 4
MOST_ANSWER_BYTES = 64 * 1024 * 1024


class Chamber:
    """One process that does one job after the other; a job that kills it hurts nobody else."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def call(self, job: str, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Have a job done and give its answer.

        Raises:
            TemplateFault: what the template did wrong.
            Exceeded: it took more time or memory than it may.
        """
        async with self._turn:
            try:
                async with asyncio.timeout(DEADLINE_SECONDS):
                    answer = await self._asked(orjson.dumps({"job": job, **asked}))
            except (TimeoutError, asyncio.IncompleteReadError, ConnectionError):
                await self._end()
                raise Exceeded("it takes more time or memory than a template may") from None
            except BaseException:
                await self._end()  # half an answer may be on its way
                raise
        if (fault := answer.get("fault")) is not None:
            kind = Exceeded if fault["is_excess"] else TemplateFault
            raise kind(fault["why"], part=fault["part"], line=fault["line"])
        found: dict[str, Any] = answer["found"]
        return found

    async def close(self) -> None:
        """End the process."""
        async with self._turn:
            await self._end()

    async def _asked(self, job: bytes) -> dict[str, Any]:
        if self._process is None or self._process.returncode is not None:
            self._process = await _started()
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(len(job).to_bytes(LENGTH_BYTES) + job)
        await process.stdin.drain()
        length = int.from_bytes(await process.stdout.readexactly(LENGTH_BYTES))
        if length > MOST_ANSWER_BYTES:
            raise ConnectionError("an answer nobody asked for")
        answer: dict[str, Any] = orjson.loads(await process.stdout.readexactly(length))
        return answer

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _started() -> asyncio.subprocess.Process:
    # Nothing of our environment: no template is to find a connection string in it.
    package = Path(mailqueue.__file__).parent.parent
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "mailqueue.rendering.chamber_inside",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={"PYTHONPATH": str(package), "PYTHONUTF8": "1"},
        start_new_session=True,  # a Ctrl-C is for whoever started us
    )
