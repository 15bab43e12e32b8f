"""Certificates and confirmations are fetched by TLS from public addresses, bounded in size."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from mailqueue.adapters.http.model import NetworkPolicy
from mailqueue.adapters.inbound.fetching import MAX_BYTES, fetcher
from mailqueue.core.errors import Unavailable
from tests.smtp.certificates import server_context, trusting_context

pytestmark = pytest.mark.anyio

HERE = NetworkPolicy(allow_private=True)
HOST = "127.0.0.1"


@asynccontextmanager
async def answering(folder: Path, answer: bytes) -> AsyncIterator[tuple[int, list[bytes]]]:
    """Answer every request alike; yield the port and the requests."""
    asked: list[bytes] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")[0])
        writer.write(answer)
        await writer.drain()
        writer.close()

    context = server_context(folder, name=HOST)
    server = await asyncio.start_server(talk, HOST, 0, ssl=context)
    async with server:
        yield server.sockets[0].getsockname()[1], asked


def http(status: str, body: bytes = b"", more: str = "") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{more}Connection: close\r\n\r\n"
    return head.encode() + body


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (http("200 OK", b"PEM"), b"PEM"),
        (http("404 Not Found", b"PEM"), None),
        (http("403 Forbidden"), None),
        (http("302 Found", b"PEM", "Location: https://127.0.0.1:1/\r\n"), None),
        (http("200 OK", b"x" * (MAX_BYTES + 1)), None),
    ],
    ids=["ok", "gone", "forbidden", "elsewhere", "large"],
)
async def test_only_what_is_there_is_given(
    tmp_path: Path, answer: bytes, body: bytes | None
) -> None:
    async with answering(tmp_path, answer) as (port, asked):
        fetch = fetcher(HERE, context=trusting_context(tmp_path))

        assert await fetch(f"https://{HOST}:{port}/a.pem?b=1") == body

        assert asked == [b"GET /a.pem?b=1 HTTP/1.1"]


@pytest.mark.parametrize("answer", [http("500 Oops"), http("429 Slow"), b"", b"no http\r\n\r\n"])
async def test_a_server_that_cannot_say_is_to_be_asked_again(tmp_path: Path, answer: bytes) -> None:
    async with answering(tmp_path, answer) as (port, _):
        fetch = fetcher(HERE, context=trusting_context(tmp_path))

        with pytest.raises(Unavailable):
            await fetch(f"https://{HOST}:{port}/")


async def test_nothing_inside_is_reached(tmp_path: Path) -> None:
    async with answering(tmp_path, http("200 OK", b"PEM")) as (port, asked):
        fetch = fetcher(context=trusting_context(tmp_path))

        with pytest.raises(Unavailable, match="is not a public address"):
            await fetch(f"https://{HOST}:{port}/")

        assert asked == []


async def test_a_server_with_an_untrusted_certificate_is_refused(tmp_path: Path) -> None:
    async with answering(tmp_path, http("200 OK", b"PEM")) as (port, asked):
        with pytest.raises(Unavailable):
            await fetcher(HERE)(f"https://{HOST}:{port}/")

        assert asked == []


@pytest.mark.parametrize("url", ["http://127.0.0.1/", "file:///etc/passwd", "https://", "x"])
async def test_nothing_but_https_is_fetched(url: str) -> None:
    assert await fetcher(HERE)(url) is None
