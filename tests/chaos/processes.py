"""Real processes of `mailqueue`, forked by the fork server, and how each ended."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from tests.concurrency.running import until

LINE_BYTES = 1 << 20


@dataclass
class Child:
    """One process: its log, and how it ended."""

    pid: int
    log: Path
    stops: int = 0  # how often it was stopped, by itself or by a signal
    code: int | None = None  # negative: the signal that killed it

    def signal(self, what: signal.Signals) -> None:
        if self.code is None:
            os.kill(self.pid, what)

    def says(self, words: str) -> bool:
        """Return whether its log contains these words."""
        return words in self.log.read_text("utf-8", "replace")

    async def ended(self, *, seconds: float = 60.0) -> int:
        """Wait for its end; return its exit code."""
        await until(self._has_ended, seconds=seconds)
        assert self.code is not None
        return self.code

    async def _has_ended(self) -> bool:
        return self.code is not None


@dataclass
class ForkServer:
    """A running fork server."""

    process: asyncio.subprocess.Process
    folder: Path
    _started: asyncio.Queue[int] = field(default_factory=asyncio.Queue)
    _children: dict[int, Child] = field(default_factory=dict)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _count: int = 0

    async def start(self, *arguments: str, environment: Mapping[str, str]) -> Child:
        """Start `mailqueue` with these arguments."""
        async with self._turn:
            self._count += 1
            log = self.folder / f"log-{self._count}"
            log.touch()
            order = {"arguments": arguments, "environment": environment, "log": str(log)}
            assert self.process.stdin is not None
            self.process.stdin.write(orjson.dumps(order) + b"\n")
            child = Child(await self._started.get(), log)
            self._children[child.pid] = child
            return child

    def end_all(self) -> None:
        """Kill what still runs."""
        for child in self._children.values():
            child.signal(signal.SIGKILL)

    async def listen(self) -> None:
        """Read what the fork server reports of its children."""
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            news = orjson.loads(line)
            if "started" in news:
                self._started.put_nowait(news["started"])
                await asyncio.sleep(
                    0
                )  # start() enters the child in `_children` before its end is read
                continue
            child = self._children[news.get("stopped") or news["ended"]]
            child.stops += "stopped" in news
            child.code = news.get("code")


@asynccontextmanager
async def fork_server(folder: Path) -> AsyncIterator[ForkServer]:
    """Run a fork server; its children have ended when the block ends."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.chaos.fork_server"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=LINE_BYTES,
    )
    made = ForkServer(process, folder)
    listening = asyncio.create_task(made.listen())
    try:
        yield made
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()
        await listening
