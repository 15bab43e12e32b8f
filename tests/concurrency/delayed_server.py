"""An SMTP server that accepts a message and delays its reply until the test asks for it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass
class Withholding:
    """`taken` counts messages read to their dot; none is answered before `release`."""

    port: int = 0
    taken: int = 0
    release: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            writer.write(b"220 mx.example.com ESMTP\r\n")
            while line := await reader.readline():
                if line.upper().startswith(b"DATA"):
                    writer.write(b"354 go ahead\r\n")
                    await reader.readuntil(b"\r\n.\r\n")
                    self.taken += 1
                    await self.release.wait()
                writer.write(b"250 2.0.0 ok\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def withholding() -> AsyncIterator[Withholding]:
    server = Withholding()
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        server.release.set()
        listener.close()
