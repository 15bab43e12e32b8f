"""An unexpected error is answered, and the connection serves the next request."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from mailqueue.api.http.middleware import RequestMiddleware
from mailqueue.api.http.responses import answer_fault
from mailqueue.api.http.server import bind, listening

pytestmark = pytest.mark.anyio
BOUND = 60.0


async def broken(request: Request) -> Response:
    raise RuntimeError("a bug")


async def cut(request: Request) -> Response:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"first"
        raise RuntimeError("a bug")

    return StreamingResponse(pieces())


async def fine(request: Request) -> Response:
    return PlainTextResponse("fine")


@asynccontextmanager
async def client() -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    routes = [Route("/broken", broken), Route("/cut", cut), Route("/fine", fine)]
    app = RequestMiddleware(Starlette(routes=routes, exception_handlers={Exception: answer_fault}))
    sock = bind("127.0.0.1", 0, option="--port")
    async with asyncio.timeout(BOUND), listening(app, sock):
        reader, writer = await asyncio.open_connection(*sock.getsockname())
        try:
            yield reader, writer
        finally:
            writer.close()


async def asked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str) -> bytes:
    writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
    return head + await reader.readexactly(int(length))


async def test_the_connection_outlives_an_error_that_was_answered() -> None:
    async with client() as (reader, writer):
        for _ in range(3):
            answer = await asked(reader, writer, "/broken")
            assert answer.startswith(b"HTTP/1.1 500 ")
            assert b"internal error" in answer
            assert b"a bug" not in answer
            assert (await asked(reader, writer, "/fine")).endswith(b"fine")


async def test_a_response_that_breaks_off_ends_its_connection() -> None:
    async with client() as (reader, writer):
        writer.write(b"GET /cut HTTP/1.1\r\nHost: localhost\r\n\r\n")

        answer = await reader.read()

        assert b"first" in answer
        assert not answer.endswith(b"0\r\n\r\n"), "a whole response, by its chunks"
