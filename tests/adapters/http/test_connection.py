"""An HTTP connection and servers that violate HTTP."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from mailqueue.adapters.http.connection import HttpConnection, connect
from mailqueue.adapters.http.model import (
    HttpOrigin,
    HttpRequest,
    HttpResponse,
    HttpTimeouts,
    NetworkPolicy,
    read_origin,
)
from mailqueue.core.verdict import Fault, Rejected, Stage
from tests.adapters.sending.fake import SILENT, Fake, FakeReply, fake

pytestmark = [pytest.mark.anyio]
CALL = HttpRequest("POST", "/x", (("X-Key", "secret-1"),), b"body")


@asynccontextmanager
async def wire_to(
    server: Fake, timeouts: HttpTimeouts | None = None
) -> AsyncIterator[HttpConnection]:
    wire = await connect(
        server.site,
        NetworkPolicy(allow_private=True),
        timeouts=timeouts or HttpTimeouts(5, 5, 5),
        context=None,
    )
    assert isinstance(wire, HttpConnection), wire
    yield wire
    wire.close()


async def ask(wire: HttpConnection) -> HttpResponse | Rejected:
    return await wire.ask(CALL, may_finish=lambda: True)


async def test_a_question_is_one_request_and_its_answer_is_read_whole() -> None:
    async with fake([FakeReply(201, b"said", {"X-One": "1"})]) as server, wire_to(server) as wire:
        answer = await ask(wire)

        assert isinstance(answer, HttpResponse)
        assert (answer.status, answer.body, answer.headers["x-one"]) == (201, b"said", "1")
        assert wire.is_usable
    [request] = server.requests
    assert (request.method, request.path, request.body) == ("POST", "/x", b"body")
    assert request.headers["host"] == f"127.0.0.1:{server.port}"
    assert request.headers["content-length"] == "4"


async def test_pieces_and_intermediate_answers_are_put_together() -> None:
    raw = (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
    )
    async with fake([FakeReply(raw=raw)]) as server, wire_to(server) as wire:
        answer = await ask(wire)

        assert isinstance(answer, HttpResponse)
        assert answer.body == b"abcde"
        assert wire.is_usable


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nContent-Length: ten\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nno colon here\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
        b"HTTP/3 200\r\n\r\n",
        b"220 mx.example.com ESMTP\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"\x00" * 1000,
        b"HTTP/1.1 200 OK\r\n" + b"X-Long: " + b"a" * 3_000_000 + b"\r\n\r\n",
    ],
)
async def test_what_is_no_answer_leaves_the_call_in_doubt(raw: bytes) -> None:
    async with fake([FakeReply(raw=raw, closes=True)]) as server, wire_to(server) as wire:
        refused = await ask(wire)

        assert isinstance(refused, Rejected)
        assert (refused.kind, refused.stage, refused.code) == (Fault.AMBIGUOUS, Stage.DOT, "")
        assert "secret-1" not in refused.detail
        assert not wire.is_usable


async def test_a_refusal_counts_though_its_body_has_no_end() -> None:
    raw = b"HTTP/1.1 400 Bad\r\nContent-Length: 9999999\r\n\r\n" + b"a" * 2_000_000
    async with fake([FakeReply(raw=raw, closes=True)]) as server, wire_to(server) as wire:
        answer = await ask(wire)

        assert isinstance(answer, HttpResponse)
        assert (answer.status, len(answer.body)) == (400, 1024 * 1024)
        assert not wire.is_usable


async def test_a_packed_body_is_not_unpacked() -> None:
    packed = FakeReply(200, b"\x1f\x8b\x08", {"content-encoding": "gzip"})
    async with fake([packed]) as server, wire_to(server) as wire:
        answer = await ask(wire)

        assert isinstance(answer, HttpResponse)
        assert answer.body == b""
        assert answer.document() is None


async def test_who_speaks_unasked_is_not_listened_to() -> None:
    twice = FakeReply(200, b"one").octets() + FakeReply(200, b"two").octets()
    async with fake([FakeReply(raw=twice)]) as server, wire_to(server) as wire:
        first = await ask(wire)
        second = await ask(wire)

        assert isinstance(first, HttpResponse)
        assert first.body == b"one"
        assert isinstance(second, Rejected)
        assert (second.kind, second.stage) == (Fault.TRANSIENT, Stage.CONNECT)
        assert len(server.requests) == 1


@pytest.mark.deep
async def test_what_comes_between_two_questions_is_no_answer_to_the_second() -> None:
    heard: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"body")
        writer.write(FakeReply(200, b"one").octets())
        await asked.wait()
        writer.write(FakeReply(200, b"unasked").octets())
        heard.set_result(await reader.read(1))
        writer.close()

    asked = asyncio.Event()
    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listening, wire_to(Fake([], port=port_of(listening))) as wire:
        assert isinstance(await ask(wire), HttpResponse)
        assert wire.is_usable
        asked.set()
        for _ in range(3000):
            if not wire.is_usable:
                break
            await asyncio.sleep(0.01)
        second = await ask(wire)
        async with asyncio.timeout(30):
            assert await heard == b""

    assert isinstance(second, Rejected)
    assert (second.kind, second.stage) == (Fault.TRANSIENT, Stage.CONNECT)


def port_of(listening: asyncio.Server) -> int:
    port: int = listening.sockets[0].getsockname()[1]
    return port


async def test_silence_ends_by_the_bound_on_reading_and_by_that_on_the_call() -> None:
    for timeouts in (HttpTimeouts(5, 0.1, 600), HttpTimeouts(5, 600, 0.1)):
        async with fake([SILENT]) as server, wire_to(server, timeouts) as wire:
            async with asyncio.timeout(60):
                refused = await ask(wire)

            assert isinstance(refused, Rejected)
            assert (refused.kind, refused.detail) == (Fault.AMBIGUOUS, "no answer in time")


async def test_a_key_that_would_end_its_line_is_not_sent() -> None:
    async with fake() as server, wire_to(server) as wire:
        call = HttpRequest("POST", "/x", (("X-Key", "a\r\nX-Evil: 1"),), b"")
        refused = await wire.ask(call, may_finish=lambda: True)

        assert isinstance(refused, Rejected)
        assert (refused.kind, refused.stage) == (Fault.ACCOUNT, Stage.CONNECT)
        assert "Evil" not in refused.detail
        assert server.requests == []


def test_a_call_is_never_printed_with_what_it_carries() -> None:
    assert "secret-1" not in repr(CALL)
    assert "body" not in repr(CALL)


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://api.example.com", HttpOrigin("https", "api.example.com", 443)),
        ("https://API.example.com./", HttpOrigin("https", "api.example.com", 443)),
        ("http://127.0.0.1:8080/x/", HttpOrigin("http", "127.0.0.1", 8080, "/x")),
        ("https://[2001:db8::1]:444", HttpOrigin("https", "2001:db8::1", 444)),
    ],
)
def test_a_place_is_read(url: str, site: HttpOrigin) -> None:
    assert read_origin(url) == site


@pytest.mark.parametrize(
    "url",
    [
        "",
        "api.example.com",
        "ftp://api.example.com",
        "https://",
        "https://user@example.com",
        "https://example.com/?a=b",
        "https://example.com/#a",
        "https://exam ple.com",
        "https://example.com\\@evil.example",
        "https://example.com:99999",
        "https://0x7f.1",
        "https://bücher.example",
        "https://example.com/\r\nX: 1",
    ],
)
def test_what_is_no_place_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_origin(url)


def test_the_host_header_names_the_port_where_it_is_not_the_usual() -> None:
    assert HttpOrigin("https", "a.example", 443).authority == "a.example"
    assert HttpOrigin("http", "a.example", 443).authority == "a.example:443"
    assert HttpOrigin("https", "2001:db8::1", 444).authority == "[2001:db8::1]:444"
