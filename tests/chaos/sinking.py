"""Runs the sink as a process of its own, gives it orders and reads its ledger."""

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import orjson

from mailqueue.embedded.cluster import free_port
from tests.chaos.orders import Fault, Orders

_TRIES, _PAUSE_SECONDS = 200, 0.05


@dataclass(frozen=True, slots=True)
class Counts:
    """What the sink has seen; `struck` counts since the last orders."""

    taken: int
    struck: int
    connections: int


@dataclass(frozen=True, slots=True)
class Ledger:
    """Copies of each mail by recipient, as the sink wrote them down."""

    taken: Counter[str]
    refused: Counter[str]
    ids_by_recipient: dict[str, set[str]]


@dataclass(slots=True)
class SinkProcess:
    """A running sink."""

    port: int
    ledger: Path
    control: Path
    process: asyncio.subprocess.Process

    async def counts(self) -> Counts:
        return await self._ask({})

    async def obey(self, fault: Fault, **more: object) -> Counts:
        """Misbehave from now on; give what was counted until then."""
        return await self._ask({**Orders(fault).words(), **more})

    def read(self) -> Ledger:
        """Read the whole ledger."""
        ledger = Ledger(Counter(), Counter(), {})
        for line in self.ledger.read_text().splitlines():
            word, message_id, recipient = line.split(" ")
            (ledger.taken if word == "taken" else ledger.refused)[recipient] += 1
            ledger.ids_by_recipient.setdefault(recipient, set()).add(message_id)
        return ledger

    async def _ask(self, words: dict[str, object]) -> Counts:
        reader, writer = await asyncio.open_unix_connection(self.control)
        writer.write(orjson.dumps(words) + b"\n")
        answer = await reader.readline()
        writer.close()
        await writer.wait_closed()
        return Counts(**orjson.loads(answer))


@asynccontextmanager
async def own_sink(folder: Path) -> AsyncIterator[SinkProcess]:
    """Have a sink that keeps its ledger in this folder; gone when the block ends."""
    port, ledger, control = free_port(), folder / "ledger", folder / "control"
    arguments = ("-m", "tests.chaos.sink", str(port), str(ledger), str(control))
    process = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, stdin=asyncio.subprocess.DEVNULL
    )
    try:
        for _ in range(_TRIES):
            if control.exists() or process.returncode is not None:
                break
            await asyncio.sleep(_PAUSE_SECONDS)
        assert control.exists(), "the sink did not start"
        yield SinkProcess(port, ledger, control, process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
