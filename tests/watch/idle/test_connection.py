"""One connection by IMAP IDLE: kept alive, bounded, and ended by what a server may do."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from mailqueue.adapters.http.model import PUBLIC_ONLY
from mailqueue.adapters.mailboxes import idle
from mailqueue.adapters.mailboxes.idle import ImapIdle
from mailqueue.core.secret import Secret
from mailqueue.ports.mailbox import HearingEnd, MailboxAccess, MailboxTls
from tests.watch.fake_imap import FakeImap, fake_imap
from tests.webhooks.delivering import LOOPBACK

pytestmark = pytest.mark.anyio


class Heard:
    """What a connection said. Mutable."""

    def __init__(self) -> None:
        self.arrivals = 0
        self.ready = asyncio.Event()
        self.changed = asyncio.Event()

    async def is_ready(self) -> None:
        self.ready.set()

    def arrived(self) -> None:
        self.arrivals += 1
        self.changed.set()


def access(
    port: int, *, password: str = "secret", tls: MailboxTls = MailboxTls.NONE
) -> MailboxAccess:
    return MailboxAccess("127.0.0.1", port, tls, "ann@example.com", Secret(password), ("INBOX",))


@asynccontextmanager
async def hearing(
    server: FakeImap, heard: Heard, **options: str
) -> AsyncIterator["asyncio.Task[HearingEnd]"]:
    given = access(server.port, **options)  # type: ignore[arg-type]
    task = asyncio.create_task(
        ImapIdle(LOOPBACK).hear(given, ready=heard.is_ready, arrived=heard.arrived)
    )
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_new_mail_is_heard_and_other_changes_are_not() -> None:
    heard = Heard()
    async with fake_imap() as server, hearing(server, heard):
        await heard.ready.wait()
        server.tell(b"* 3 EXPUNGE\r\n* 2 FETCH (FLAGS (\\Seen))\r\n* OK still here\r\n")
        server.tell(b"* OK [X] {5}\r\n* 9 E\r\n* 4 exists\r\n")
        await heard.changed.wait()
        assert heard.arrivals == 1


async def test_idle_is_asked_for_anew_before_a_server_ends_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert idle.IDLE_SECONDS < 29 * 60, "RFC 2177"
    monkeypatch.setattr(idle, "IDLE_SECONDS", 0.02)
    heard = Heard()
    async with fake_imap() as server, hearing(server, heard) as task:
        await heard.ready.wait()
        while server.commands.count("IDLE") < 4:
            assert not task.done()
            await asyncio.wait({task}, timeout=0.02)
        assert server.logins == 1


@pytest.mark.parametrize(
    ("command", "answer", "end"),
    [
        ("CAPABILITY", b"* BYE bye\r\n", HearingEnd("the server ended the connection")),
        ("EXAMINE", b"TAG NO none\r\n", HearingEnd("folder INBOX cannot be opened", True)),
        ("IDLE", b"TAG BAD unknown\r\n", HearingEnd("the server has no IDLE", has_idle=False)),
        ("IDLE", b"+ go\r\n* BYE bye\r\n", HearingEnd("the server ended the connection")),
        (
            "IDLE",
            b"+ go\r\n" + b"* 1 RECENT\r\n" * 10_001,
            HearingEnd("the server sent too many lines"),
        ),
        (
            "IDLE",
            b"+ go\r\n* OK {99999999}\r\n",
            HearingEnd("the server sent more than was asked for"),
        ),
    ],
)
async def test_what_a_server_may_do_ends_the_connection(
    command: str, answer: bytes, end: HearingEnd
) -> None:
    async with fake_imap() as server, hearing(server, Heard()) as task:
        server.instead[command] = answer
        assert await task == end


async def test_of_what_a_server_says_that_it_has_only_what_is_used_is_kept() -> None:
    reader = asyncio.StreamReader()
    for line in range(200):
        words = b" ".join(b"X%d-%d" % (line, word) for word in range(50))
        reader.feed_data(b"* CAPABILITY IDLE " + words + b"\r\n")
    reader.feed_data(b"* BYE enough\r\n")
    async with fake_imap() as server:
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
        talk = idle._Talk(reader, writer)
        with pytest.raises(idle._Ended):
            await talk._command("CAPABILITY")
        writer.close()
    assert talk._capabilities == {"IDLE"}


@pytest.mark.parametrize("line", [b"x" * 200_000 + b"\r\n", b"x" * 200_000, b"\x00\xff\r\n"])
async def test_a_line_without_an_end_is_not_kept(line: bytes) -> None:
    async with fake_imap() as server, hearing(server, Heard()) as task:
        server.instead["IDLE"] = b"+ go\r\n" + line + b"* BYE\r\n"
        assert isinstance(await task, HearingEnd)


async def test_a_server_that_answers_no_more_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle, "IDLE_SECONDS", 0.01)
    monkeypatch.setattr(idle, "READ_SECONDS", 0.05)
    async with fake_imap() as server, hearing(server, Heard()) as task:
        server.instead["IDLE"] = b"+ go\r\n"
        server.instead["DONE"] = b""
        assert await task == HearingEnd("the server was too slow")


async def test_a_wrong_password_is_a_refusal_and_in_no_reason() -> None:
    async with fake_imap() as server, hearing(server, Heard(), password="guess") as task:
        assert await task == HearingEnd("the server refused the login", is_refusal=True)


@pytest.mark.parametrize("word", ["UNAVAILABLE", "INUSE", "LIMIT"])
async def test_a_server_that_is_busy_refuses_no_login(word: str) -> None:
    async with fake_imap() as server, hearing(server, Heard()) as task:
        server.instead["AUTHENTICATE"] = f"TAG NO [{word}] later\r\n".encode()
        assert (await task).is_refusal is False


async def test_a_private_address_is_not_connected_to_unless_it_is_allowed() -> None:
    heard = Heard()
    async with fake_imap() as server:
        end = await ImapIdle(PUBLIC_ONLY).hear(
            access(server.port), ready=heard.is_ready, arrived=heard.arrived
        )
        assert end == HearingEnd("127.0.0.1 is not a public address", is_refusal=True)
        assert server.commands == []


async def test_answers_that_were_sent_before_tls_begin_no_login() -> None:
    received: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"* OK [CAPABILITY IMAP4rev1 STARTTLS] ready\r\n")
        tag = (await reader.readline()).split()[0]
        writer.write(tag + b" OK go\r\na1 OK x\r\n* CAPABILITY AUTH=PLAIN\r\na2 OK x\r\n")
        received.append(await reader.read(1000))
        writer.close()

    heard = Heard()
    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        where = access(port, tls=MailboxTls.STARTTLS)
        end = await ImapIdle(LOOPBACK).hear(where, ready=heard.is_ready, arrived=heard.arrived)
    assert end.reason.startswith("the connection")
    assert received[0][:1] == b"\x16", "a handshake, and no command"


@pytest.mark.parametrize(
    ("limit", "command"),
    [("LOGIN_SECONDS", "CAPABILITY"), ("ANSWER_SECONDS", "EXAMINE"), ("ANSWER_SECONDS", "IDLE")],
)
async def test_a_server_that_sends_lines_instead_of_an_answer_is_given_up(
    monkeypatch: pytest.MonkeyPatch, limit: str, command: str
) -> None:
    """A line now and then ends no wait for an answer."""
    monkeypatch.setattr(idle, limit, 0.05)
    async with fake_imap() as server:
        server.instead[command] = b"* OK wait\r\n"
        async with hearing(server, Heard()) as task:
            assert await task == HearingEnd("the server was too slow")
    assert idle.READ_SECONDS > 10, "the silence was not what ended it"
