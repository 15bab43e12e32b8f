"""Runs the sink in its own process, sends it orders and reads its ledger."""

import asyncio
import sys
from array import array
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from mailqueue.embedded.ports import free_port
from tests.chaos.addresses import number_of
from tests.chaos.sink.faults import Fault, Orders

_TRIES, _PAUSE_SECONDS = 200, 0.05


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of the sink; `faults` counts since the last orders."""

    taken: int
    faults: int
    connections: int


@dataclass(slots=True)
class Ledger:
    """The mails that the sink recorded, by their number; a million mails take 12 MB."""

    copies: "array[int]" = field(default_factory=lambda: array("I"))  # that were taken
    ids: "array[int]" = field(default_factory=lambda: array("q"))  # of Message-IDs; 0 of none
    renamed: int = 0  # copies under another Message-ID than the first

    def put(self, word: str, message_id: str, number: int) -> None:
        """Note one line."""
        missing = number + 1 - len(self.copies)
        self.copies.extend([0] * missing)
        self.ids.extend([0] * missing)
        self.copies[number] += word == "taken"
        identity = hash(message_id)
        self.renamed += self.ids[number] not in (0, identity)
        self.ids[number] = identity

    @property
    def delivered(self) -> int:
        """Return how many mails were accepted, once or more often."""
        return sum(1 for count in self.copies if count)


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
        """Simulate this fault from now on; return the counts until then."""
        return await self._ask({**Orders(fault).words(), **more})

    def read(self) -> Ledger:
        """Read the whole ledger."""
        ledger = Ledger()
        with self.ledger.open() as lines:
            for line in lines:
                word, message_id, address = line.rstrip("\n").split(" ")
                ledger.put(word, message_id, number_of(address))
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
    """Run a sink that writes its ledger to this folder, until the block ends."""
    port, ledger, control = free_port(), folder / "ledger", folder / "control"
    arguments = ("-m", "tests.chaos.sink.server", str(port), str(ledger), str(control))
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
