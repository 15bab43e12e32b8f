"""A webhook request is bounded in time and size, and reaches no private network."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from pathlib import Path

import pytest

from mailqueue.adapters.http.model import NetworkPolicy
from mailqueue.adapters.http.poster import MAX_BODY_BYTES, HttpPoster, retry_after_of, target_of
from tests.adapters.sending.fake import CLOSES, SILENT, FakeReply, fake
from tests.smtp.certificates import server_context, trusting_context
from tests.webhooks.delivering import LOOPBACK

pytestmark = pytest.mark.anyio
HEADERS = (("Content-Type", "application/json"),)


@asynccontextmanager
async def poster(
    reach: NetworkPolicy = LOOPBACK, *, total_s: float = 15.0
) -> AsyncIterator[HttpPoster]:
    made = HttpPoster(reach, total_s=total_s)
    yield made
    made.close()


@asynccontextmanager
async def endless(first: bytes, then: bytes, *, pause: float) -> AsyncIterator[str]:
    """Send the first text, then the second one without end."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(first)
            while True:
                writer.write(then)
                await writer.drain()
                await asyncio.sleep(pause)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    finally:
        server.close()


async def test_a_call_is_one_request_and_connections_are_kept() -> None:
    async with fake([FakeReply(204)]) as server, poster() as calls:
        url = f"http://127.0.0.1:{server.port}/hooks?a=b"
        posted = [await calls.post(url, HEADERS, b'{"n":1}') for _ in range(3)]

    assert [one.status for one in posted] == [204, 204, 204]
    assert server.connections == 1
    assert {(one.method, one.path, one.body) for one in server.requests} == {
        ("POST", "/hooks?a=b", b'{"n":1}')
    }
    assert server.requests[0].headers["content-type"] == "application/json"
    assert server.requests[0].headers["user-agent"].startswith("mailqueue/")


async def test_a_connection_that_was_closed_meanwhile_is_opened_again() -> None:
    async with fake([FakeReply(200, closes=True)]) as server, poster() as calls:
        url = f"http://127.0.0.1:{server.port}/"
        posted = [await calls.post(url, HEADERS, b"{}") for _ in range(2)]

    assert [one.status for one in posted] == [200, 200]


async def test_a_kept_connection_that_breaks_is_no_failure() -> None:
    """The server closed an idle connection while the request was written."""
    async with fake([FakeReply(200), CLOSES, FakeReply(200)]) as server, poster() as calls:
        url = f"http://127.0.0.1:{server.port}/"
        posted = [await calls.post(url, HEADERS, b"{}") for _ in range(2)]

    assert [one.status for one in posted] == [200, 200]
    assert server.connections == 2


@pytest.mark.parametrize(
    "status", [200, 201, 299, 301, 302, 307, 308, 400, 404, 410, 429, 500, 503]
)
async def test_every_status_is_told_and_no_redirect_is_followed(status: int) -> None:
    elsewhere = FakeReply(status, b"said", {"location": "http://127.0.0.1:1/inside"})
    async with fake([elsewhere]) as server, poster() as calls:
        posted = await calls.post(f"http://127.0.0.1:{server.port}/", HEADERS, b"{}")

    assert (posted.status, posted.body) == (status, b"said")
    assert len(server.requests) == 1


@pytest.mark.deep
async def test_an_endpoint_that_says_nothing_is_given_up_in_time() -> None:
    async with fake([SILENT]) as server, poster(total_s=0.3) as calls, asyncio.timeout(60):
        posted = await calls.post(f"http://127.0.0.1:{server.port}/", HEADERS, b"{}")

    assert (posted.status, posted.why) == (None, "no answer in time")
    assert posted.took_ms >= 290


async def test_a_head_that_comes_in_drops_is_given_up_in_time() -> None:
    drops = endless(b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n", pause=0.05)
    async with drops as url, poster(total_s=0.4) as calls:
        posted = await calls.post(url, HEADERS, b"{}")

    assert posted.status is None


async def test_a_body_that_comes_in_drops_takes_nothing_from_the_status() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"
    async with endless(head, b"x", pause=0.05) as url, poster() as calls:
        posted = await calls.post(url, HEADERS, b"{}")

    assert posted.status == 200
    assert posted.took_ms < 10_000


async def test_of_a_body_without_end_little_is_read() -> None:
    head = b"HTTP/1.1 500 Oh\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunks = endless(head, b"1000\r\n" + b"x" * 4096 + b"\r\n", pause=0)
    async with chunks as url, poster() as calls:
        posted = await calls.post(url, HEADERS, b"{}")

    assert posted.status == 500
    assert len(posted.body) == MAX_BODY_BYTES


@pytest.mark.parametrize(
    "raw",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"220 mail.example.com ESMTP\r\n",
        b"HTTP/1.1 200\r\nContent-Length: 1, 2\r\n\r\n",
        b"HTTP/1.1 999999 Odd\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01",
    ],
)
async def test_what_is_not_http_is_no_answer(raw: bytes) -> None:
    async with fake([FakeReply(raw=raw, closes=True)]) as server, poster(total_s=5) as calls:
        posted = await calls.post(f"http://127.0.0.1:{server.port}/", HEADERS, b"{}")

    assert posted.status is None
    assert posted.why


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "10.1.2.3",
        "169.254.169.254",
        "192.168.1.1",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[fd00::1]",
        "0.0.0.0",
        "100.64.0.1",
    ],
)
async def test_nothing_inside_is_called_whether_or_not_it_listens(host: str) -> None:
    async with fake([FakeReply(200)]) as server, poster(NetworkPolicy()) as calls:
        for port in (server.port, 9):
            for scheme in ("http", "https"):
                posted = await calls.post(f"{scheme}://{host}:{port}/", HEADERS, b"{}")
                assert posted.status is None
                # Here no name server is asked, and literals of elsewhere are names like others.
                assert posted.why.startswith("cannot resolve") or posted.why.endswith(
                    "is not a public address"
                )

    assert server.connections == 0


async def test_only_the_networks_the_operator_allowed_are_called() -> None:
    only = NetworkPolicy(allowed_networks=(ip_network("127.0.0.2/32"),))
    async with fake([FakeReply(200)]) as server, poster(only) as calls:
        posted = await calls.post(f"http://127.0.0.1:{server.port}/", HEADERS, b"{}")

    assert (posted.status, server.connections) == (None, 0)


async def test_a_server_that_speaks_no_tls_is_told_as_such() -> None:
    async with fake([FakeReply(200)]) as server, poster(total_s=0.5) as calls:
        posted = await calls.post(f"https://127.0.0.1:{server.port}/", HEADERS, b"{}")

    assert posted.status is None
    assert "TLS" in posted.why


async def test_an_untrusted_certificate_is_refused(tmp_path: Path) -> None:
    context = server_context(tmp_path, name="localhost")
    async with fake([FakeReply(200)], context=context) as server, poster(total_s=5) as calls:
        posted = await calls.post(f"https://localhost:{server.port}/", HEADERS, b"{}")

    assert posted.status is None
    assert "certificate" in posted.why
    assert server.requests == []


async def test_a_trusted_endpoint_is_called_by_tls_and_one_of_another_name_is_not(
    tmp_path: Path,
) -> None:
    context = server_context(tmp_path, name="localhost")
    calls = HttpPoster(LOOPBACK, tls_context=trusting_context(tmp_path))
    async with fake([FakeReply(200)], context=context) as server:
        posted = await calls.post(f"https://localhost:{server.port}/", HEADERS, b"{}")
        other = await calls.post(f"https://127.0.0.1:{server.port}/", HEADERS, b"{}")
        calls.close()

    assert (posted.status, other.status) == (200, None)
    assert len(server.requests) == 1


async def test_an_empty_result_says_so() -> None:
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    async with poster(total_s=5) as calls:
        posted = await calls.post(f"http://127.0.0.1:{port}/", HEADERS, b"{}")
        unknown = await calls.post("https://nowhere.invalid/", HEADERS, b"{}")

    assert posted.status is None
    assert "cannot connect" in posted.why
    assert unknown.why == "cannot resolve nowhere.invalid"


NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "wait"),
    [
        (None, None),
        ("120", timedelta(minutes=2)),
        (" 0 ", timedelta(0)),
        ("Fri, 20 Nov 2026 12:10:00 GMT", timedelta(minutes=10)),
        ("Fri, 20 Nov 2026 11:00:00 GMT", timedelta(0)),
        ("Fri, 20 Nov 2026 12:10:00 -0000", timedelta(minutes=10)),
        ("9" * 400, timedelta(hours=24)),
        ("Fri, 20 Nov 2099 12:10:00 GMT", timedelta(hours=24)),
        ("Fri, 20 Nov 99999999999999999999 12:10:00 GMT", None),
        ("Fri, 20 Nov 2026 12:10:00 +99999999999999999999", None),
        ("-5", None),
        ("1.5", None),
        ("soon", None),
        ("٣", None),
        ("", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(header: str | None, wait: timedelta | None) -> None:
    assert retry_after_of(header, now=NOW) == wait


def test_an_address_is_split_into_server_and_path() -> None:
    site, path = target_of("https://Example.com:8443/a/b?c=d")

    assert (site.host, site.port, path) == ("example.com", 8443, "/a/b?c=d")
    assert target_of("https://example.com")[1] == "/"
    assert target_of("https://example.com?x=y")[1] == "/?x=y"
