"""TLS in the SMTP server: no password in clear from other hosts, nothing sent before TLS counts."""

import asyncio
import smtplib
import socket
import ssl
from pathlib import Path
from typing import Any

import pytest

from mailqueue.smtp.server.answer import LOGIN_REFUSED, SmtpReply
from mailqueue.smtp.server.handler import LoggedIn, LoginAttempt, ServerLimits
from tests.smtp.certificates import server_context, trusting_context
from tests.smtp.server.serving import Memory, RawClient, connected, mail, serving

pytestmark = pytest.mark.anyio


async def check(attempt: LoginAttempt) -> LoggedIn | SmtpReply:
    is_ann = attempt.password == "secret"
    return LoggedIn(message_bytes=100) if is_ann else LOGIN_REFUSED


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tls")


@pytest.fixture(scope="module")
def options(folder: Path) -> dict[str, Any]:
    return {"tls": server_context(folder, name="localhost"), "authenticate": check}


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat every client as one of another host."""
    is_near = "mailqueue.smtp.server.login.is_on_this_machine"
    monkeypatch.setattr(is_near, lambda _address: False)


async def test_smtplib_sends_under_starttls(folder: Path, options: dict[str, Any]) -> None:
    memory = Memory()

    def send(port: int) -> None:
        with smtplib.SMTP("localhost", port, timeout=60) as smtp:
            smtp.starttls(context=trusting_context(folder))
            smtp.login("ann", "secret")
            for _ in range(3):
                smtp.sendmail("a@example.org", ["ann@example.com"], b"x\r\n")

    async with serving(memory, **options) as port:
        await asyncio.to_thread(send, port)

    assert memory.raws == [b"x\r\n"] * 3


async def test_smtplib_sends_under_tls_from_the_first_byte(
    folder: Path, options: dict[str, Any]
) -> None:
    memory = Memory()

    def send(port: int) -> None:
        with smtplib.SMTP_SSL(
            "localhost", port, context=trusting_context(folder), timeout=60
        ) as smtp:
            smtp.ehlo()
            assert not smtp.has_extn("starttls")
            smtp.login("ann", "secret")
            smtp.sendmail("a@example.org", ["ann@example.com"], b"x\r\n")

    async with serving(memory, **options, is_implicit=True) as port:
        await asyncio.to_thread(send, port)

    assert memory.raws == [b"x\r\n"]


async def secured(client: RawClient, folder: Path) -> None:
    assert (await client.ask(b"STARTTLS"))[:3] == "220"
    await client.writer.start_tls(trusting_context(folder), server_hostname="localhost")


@pytest.mark.usefixtures("far")
async def test_from_elsewhere_no_password_goes_in_clear(
    folder: Path, options: dict[str, Any]
) -> None:
    async with serving(**options) as port, connected(port) as client:
        offers = await client.ask(b"EHLO x")
        assert "STARTTLS" in offers
        assert "AUTH" not in offers
        assert (await client.ask(b"AUTH PLAIN AGEAc2VjcmV0"))[:9] == "538 5.7.1"
        assert (await client.ask(b"MAIL FROM:<>"))[:9] == "530 5.7.0"
        await secured(client, folder)
        offers = await client.ask(b"EHLO x")
        assert "STARTTLS" not in offers
        assert "AUTH PLAIN LOGIN" in offers
        assert (await client.ask(b"AUTH PLAIN AGEAc2VjcmV0"))[:3] == "235"
        assert (await client.ask(b"STARTTLS"))[:3] == "503"


async def test_what_was_said_in_clear_is_forgotten(folder: Path, options: dict[str, Any]) -> None:
    async with serving(**options) as port, connected(port) as client:
        await client.ask(b"EHLO x")
        assert (await client.ask(b"AUTH PLAIN AGEAc2VjcmV0"))[:3] == "235"
        assert (await client.ask(b"MAIL FROM:<a@example.org>"))[:3] == "250"
        await secured(client, folder)
        assert (await client.ask(b"MAIL FROM:<a@example.org>"))[:3] == "503"
        await client.ask(b"EHLO x")
        assert (await client.ask(b"MAIL FROM:<a@example.org>"))[:3] == "530"


@pytest.mark.parametrize(
    "behind", [b"EHLO evil\r\n", b"R", b"AUTH PLAIN AGEAc2VjcmV0\r\nMAIL FROM:<>\r\n", b"\r\n"]
)
async def test_nothing_slips_in_behind_starttls(behind: bytes, options: dict[str, Any]) -> None:
    async with serving(**options) as port, connected(port) as client:
        await client.ask(b"EHLO x")
        client.send(b"STARTTLS\r\n" + behind)
        assert (await client.answer())[:9] == "554 5.5.0"
        assert await client.rest() == ""


@pytest.mark.deep
async def test_nothing_slips_in_while_starttls_waits_for_a_message(
    folder: Path, options: dict[str, Any]
) -> None:
    """What was sent in clear before the reply to STARTTLS must not count under TLS."""
    memory = Memory()
    async with serving(memory, **options) as port:
        client = RawClient(*await asyncio.open_connection("127.0.0.1", port))
        client.send(b"EHLO x\r\nAUTH PLAIN AGEAc2VjcmV0\r\n")
        assert await client.codes(3) == ["220", "250", "235"]
        client.send(mail(b"x\r\n", to=b"gated@example.com") + b"STARTTLS\r\n")
        assert await client.codes(3) == ["250", "250", "354"]
        client.send(b"EHLO evil\r\n")
        await asyncio.sleep(0.1)  # for it to arrive: later it would be no TLS, and end it too
        memory.gate.set()
        assert await client.codes(2) == ["250", "220"]
        with pytest.raises(ConnectionError):
            await client.writer.start_tls(trusting_context(folder), server_hostname="localhost")


async def test_who_never_ends_the_handshake_is_let_go(options: dict[str, Any]) -> None:
    limits = ServerLimits(handshake_s=0.1)
    async with serving(**options, limits=limits, is_implicit=True) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"\x16\x03\x01")
        assert await asyncio.wait_for(reader.read(), 60) == b""
        writer.close()


async def test_what_is_no_tls_ends_the_connection_and_no_other(
    folder: Path, options: dict[str, Any]
) -> None:
    async with serving(**options) as port:
        async with connected(port) as client:
            await client.ask(b"EHLO x")
            assert (await client.ask(b"STARTTLS"))[:3] == "220"
            client.send(b"EHLO evil\r\nMAIL FROM:<a@example.org>\r\n")
            rest = await asyncio.wait_for(client.reader.read(), 60)
            assert b"250" not in rest
        async with connected(port) as client:
            await client.ask(b"EHLO x")
            await secured(client, folder)
            assert "PIPELINING" in await client.ask(b"EHLO x")


async def test_what_is_sent_with_the_end_of_the_handshake_is_answered_under_tls(
    folder: Path, options: dict[str, Any]
) -> None:
    """A client may send its EHLO together with the last message of its handshake."""

    def talk(port: int) -> bytes:
        with socket.create_connection(("127.0.0.1", port), timeout=60) as plain:
            file = plain.makefile("rb")
            file.readline()
            plain.sendall(b"STARTTLS\r\n")
            file.readline()
            into, out = ssl.MemoryBIO(), ssl.MemoryBIO()
            secure = trusting_context(folder).wrap_bio(into, out, server_hostname="localhost")
            while True:
                try:
                    secure.do_handshake()
                    break
                except ssl.SSLWantReadError:
                    plain.sendall(out.read())
                    into.write(plain.recv(65536))
            secure.write(b"EHLO x\r\n")
            plain.sendall(out.read())
            while True:
                try:
                    return secure.read(1000)
                except ssl.SSLWantReadError:
                    into.write(plain.recv(65536))

    async with serving(**options) as port:
        answer = await asyncio.to_thread(talk, port)

    assert answer.startswith(b"250-")


async def test_a_server_without_a_certificate_offers_no_tls() -> None:
    async with serving() as port, connected(port) as client:
        assert "STARTTLS" not in await client.ask(b"EHLO x")
        assert (await client.ask(b"STARTTLS"))[:3] == "500"


async def test_a_login_says_how_large_messages_may_be(options: dict[str, Any]) -> None:
    memory = Memory()
    async with serving(memory, **options) as port, connected(port) as client:
        await client.ask(b"EHLO x")
        await client.ask(b"AUTH PLAIN AGEAc2VjcmV0")
        assert "SIZE 100|" in await client.ask(b"EHLO x")
        assert (await client.ask(b"MAIL FROM:<a@example.org> SIZE=101"))[:9] == "552 5.3.4"
        client.send(
            b"MAIL FROM:<a@example.org>\r\nRCPT TO:<b@example.org>\r\nDATA\r\n"
            + b"x" * 101
            + b"\r\n.\r\nQUIT\r\n"
        )
        assert await client.codes(5) == ["250", "250", "354", "552", "221"]
    assert not memory.taken
