"""Clients that send the header slowly, or never complete it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from mailqueue.api.http.requests.header_limits import HEAD_BYTES, BoundedHeads
from mailqueue.api.http.server import bind, listening

pytestmark = pytest.mark.anyio
BOUND = 60.0
HEAD = b"GET / HTTP/1.1\r\nHost: localhost\r\n"


class Hasty(BoundedHeads):
    head_seconds = 0.05


async def hello(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        await PlainTextResponse("hello")(scope, receive, send)


@asynccontextmanager
async def client(
    kind: type[BoundedHeads],
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    sock = bind("127.0.0.1", 0, option="--port")
    async with asyncio.timeout(BOUND), listening(hello, sock, connections=kind):
        reader, writer = await asyncio.open_connection(*sock.getsockname())
        try:
            yield reader, writer
        finally:
            writer.close()


@pytest.mark.parametrize("sent", [b"", b"G", HEAD, HEAD + b"X-Slow: "])
async def test_who_never_ends_a_head_is_let_go(sent: bytes) -> None:
    async with client(Hasty) as (reader, writer):
        writer.write(sent)

        assert (await reader.read()).startswith(b"HTTP/1.1 408 ")


async def test_a_head_in_pieces_is_taken(anyio_backend: str) -> None:
    async with client(BoundedHeads) as (reader, writer):
        for _ in range(2):  # the connection is kept
            for piece in (HEAD[:7], HEAD[7:], b"X-Some: thing\r\n", b"\r\n"):
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0)
            assert b"200 OK" in await reader.readuntil(b"\r\n\r\n")
            assert await reader.readexactly(5) == b"hello"


@pytest.mark.parametrize("line", [b"X-Many: thing\r\n", b"x"])
async def test_a_head_without_end_is_refused(line: bytes) -> None:
    async with client(BoundedHeads) as (reader, writer):
        writer.write(HEAD + (b"X-Long: " if line == b"x" else b""))
        answer = asyncio.create_task(reader.read())
        try:
            for _ in range(40):
                writer.write(line * (HEAD_BYTES // len(line) // 8))
                await writer.drain()
                await asyncio.sleep(0)
        except ConnectionError:
            pass  # it was refused before all was said

        said = await answer_of(answer)
        assert said is None or said.startswith(b"HTTP/1.1 431 ")


async def answer_of(reading: asyncio.Task[bytes]) -> bytes | None:
    """Return the response; None where the connection was closed before the request was read."""
    try:
        return await reading
    except ConnectionError:
        return None
