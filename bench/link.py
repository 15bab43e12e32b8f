"""Carries connections to the sink through TLS, or with the delay of a distant server.

`python -m bench.link PORT [--tls FILE] [--delay-ms MS]` prints the port it listens on. A process of
its own, so that what it costs is in no other figure.
"""

import asyncio
import ssl
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import click
import uvloop

from mailqueue.smtp.server.self_signed import keep_certificate

HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Distance:
    """What lies between the workers and the sink; `delay_ms` is that of a round trip."""

    is_tls: bool = False
    delay_ms: float = 0.0

    @property
    def name(self) -> str:
        """Return it in words, such as `TLS, 20 ms away`; empty if nothing lies between."""
        delay = f"{self.delay_ms:g} ms away" if self.delay_ms else ""
        return ", ".join(filter(None, ("TLS" if self.is_tls else "", delay)))


@dataclass(frozen=True, slots=True)
class Link:
    """A running link; `variables` are what workers need in their environment to trust it."""

    port: int
    pid: int
    variables: Mapping[str, str]


@asynccontextmanager
async def link_to(port: int, distance: Distance) -> AsyncIterator[Link]:
    """Run a link to a port of loopback until the block ends."""
    with tempfile.TemporaryDirectory(prefix="mailqueue-bench-link-") as folder:
        arguments = ["--delay-ms", str(distance.delay_ms)]
        variables = {}
        if distance.is_tls:
            file = Path(folder) / "certificate.pem"
            keep_certificate(file)
            arguments += ["--tls", str(file)]
            variables["SSL_CERT_FILE"] = str(file)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bench.link", str(port), *arguments),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
        )
        assert process.stdout is not None
        try:
            yield Link(int(await process.stdout.readline()), process.pid, variables)
        finally:
            process.terminate()
            await process.wait()


class _End(asyncio.Protocol):
    """One side of a connection: what it reads is written to `other`, later by the delay."""

    def __init__(self, delay_s: float) -> None:
        self._delay_s = delay_s
        self.other: _End | None = None
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is none by its class

    def data_received(self, data: bytes) -> None:
        if self._delay_s:
            asyncio.get_running_loop().call_later(self._delay_s, self._pass_on, data)
        else:
            self._pass_on(data)

    def connection_lost(self, _: Exception | None) -> None:
        asyncio.get_running_loop().call_later(self._delay_s, self._pass_on, b"")

    def write(self, data: bytes) -> None:
        """Write to this side, or close it if there is nothing more to write."""
        if self._transport is None or self._transport.is_closing():
            return
        if data:
            self._transport.write(data)
        else:
            self._transport.close()

    def _pass_on(self, data: bytes) -> None:
        if self.other is not None:
            self.other.write(data)


class _Near(_End):
    """The side of the workers; the sink greets first, so nothing is read before it is reached."""

    def __init__(self, port: int, delay_s: float) -> None:
        super().__init__(delay_s)
        self._port = port
        self._reaching: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._reaching = asyncio.create_task(self._reach())

    async def _reach(self) -> None:
        self.other = far = _End(self._delay_s)
        far.other = self
        await asyncio.get_running_loop().create_connection(lambda: far, HOST, self._port)


async def serve(port: int, *, tls: Path | None, delay_ms: float) -> None:
    """Carry connections to the port until the process is ended."""
    context = None
    if tls is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tls)
    delay_s = delay_ms / 2_000  # of one direction
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Near(port, delay_s), HOST, 0, ssl=context)
    click.echo(server.sockets[0].getsockname()[1])
    await server.serve_forever()


@click.command()
@click.argument("port", type=int)
@click.option("--tls", type=click.Path(path_type=Path), help="Certificate and key.")
@click.option("--delay-ms", default=0.0, show_default=True, help="Of a round trip.")
def main(*, port: int, tls: Path | None, delay_ms: float) -> None:
    """Carry connections to a sink."""
    uvloop.run(serve(port, tls=tls, delay_ms=delay_ms))


if __name__ == "__main__":
    main()
