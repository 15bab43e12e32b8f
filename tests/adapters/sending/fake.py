"""An HTTP server with scripted responses, which records every request byte for byte."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson

from mailqueue.adapters.http.model import HttpOrigin

REASONS = {200: "OK", 202: "Accepted"}


@dataclass(frozen=True, slots=True)
class Request:
    """One request as received; header names in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)


@dataclass(frozen=True, slots=True)
class FakeReply:
    """A scripted response. `raw` replaces all of it; `cut` closes after that many bytes."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    cut: int | None = None
    closes: bool = False

    def octets(self) -> bytes:
        if self.raw is not None:
            return self.raw[: self.cut]
        lines = [f"HTTP/1.1 {self.status} {REASONS.get(self.status, 'Other')}"]
        given = {"content-length": str(len(self.body)), **self.headers}
        lines += [f"{name}: {value}" for name, value in given.items()]
        lines += ["connection: close"] if self.closes else []
        return ("\r\n".join(lines) + "\r\n\r\n").encode() + self.body[: self.cut]


def says(status: int, document: Any, **headers: str) -> FakeReply:
    """Return a response with a JSON body."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    body = orjson.dumps(document)
    return FakeReply(status, body, {"content-type": "application/json", **named})


Answering = Callable[[Request], FakeReply]
SILENT = FakeReply(raw=b"")  # takes the request and says nothing
CLOSES = FakeReply(raw=b"", closes=True)  # takes the request and hangs up


@dataclass
class Fake:
    """Gives the responses in order, the last one repeatedly; some depend on the request."""

    replies: list[FakeReply | Answering]
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    port: int = 0
    scheme: str = "http"
    over: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def site(self) -> HttpOrigin:
        return HttpOrigin(self.scheme, "127.0.0.1", self.port)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while await self._answer_one(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass  # the client went, or the test is over
        finally:
            writer.close()

    async def _answer_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        self.requests.append(await _read(reader))
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if not isinstance(reply, FakeReply):
            reply = reply(self.requests[-1])
        if reply is SILENT:
            await self.over.wait()
            return False
        writer.write(reply.octets())
        await writer.drain()
        return not reply.closes and reply.cut is None


async def _read(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").removesuffix("\r\n\r\n")
    first, *lines = head.split("\r\n")
    method, path, version = first.split(" ")
    assert version == "HTTP/1.1"
    pairs = [line.split(": ", 1) for line in lines]
    names = [name.lower() for name, _ in pairs]
    assert len(set(names)) == len(names), "a header stands twice"
    headers = {name.lower(): value for name, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Request(method, path, headers, body)


@asynccontextmanager
async def fake(
    replies: Sequence[FakeReply | Answering] = (FakeReply(),),
    *,
    context: ssl.SSLContext | None = None,
) -> AsyncIterator[Fake]:
    """Serve on loopback while the block runs."""
    server = Fake(list(replies), scheme="http" if context is None else "https")
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=context)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        server.over.set()
        listening.close()
