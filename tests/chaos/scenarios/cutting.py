"""A TCP proxy that stops forwarding bytes, in one direction or both, without closing."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from enum import Flag, auto


class Way(Flag):
    """The directions of a connection."""

    ASKING = auto()  # from the worker to the server
    ANSWERING = auto()
    BOTH = ASKING | ANSWERING


@dataclass
class Proxy:
    """Forwards connections to `target`; while a direction is cut, its bytes wait in the kernel."""

    target: int
    port: int = 0
    stopped: int = 0  # pieces that were kept back
    _open: dict[Way, asyncio.Event] = field(default_factory=dict)
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)

    def __post_init__(self) -> None:
        for way in (Way.ASKING, Way.ANSWERING):
            self._open[way] = asyncio.Event()
            self._open[way].set()

    def cut(self, ways: Way) -> None:
        for way in ways:
            self._open[way].clear()

    def heal(self) -> None:
        """Forward again; the bytes that waited arrive."""
        for way in self._open.values():
            way.set()

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Forward one connection until either side closes."""
        with suppress(ConnectionError):
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.target)
            self._writers |= {writer, far_writer}
            try:
                asking = asyncio.create_task(self._pump(reader, far_writer, Way.ASKING))
                answering = asyncio.create_task(self._pump(far_reader, writer, Way.ANSWERING))
                await asyncio.wait((asking, answering))
            finally:
                self._writers -= {writer, far_writer}

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, way: Way
    ) -> None:
        with suppress(ConnectionError):
            while piece := await reader.read(65536):
                if not self._open[way].is_set():
                    self.stopped += 1
                    await self._open[way].wait()
                writer.write(piece)
                await writer.drain()
        if not self._open[way].is_set():
            await self._open[way].wait()
        writer.close()

    def end(self) -> None:
        for writer in self._writers:
            writer.transport.abort()


@asynccontextmanager
async def proxy_to(target: int) -> AsyncIterator[Proxy]:
    """Run a proxy on a free port of loopback."""
    proxy = Proxy(target)
    listener = await asyncio.start_server(proxy.carry, "127.0.0.1", 0)
    proxy.port = listener.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        listener.close()
        proxy.heal()
        proxy.end()
        await asyncio.sleep(0)
