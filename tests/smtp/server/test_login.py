"""Logging in to the SMTP server."""

import asyncio
import base64
import smtplib

import pytest

from mailqueue.smtp.server.answer import LOGIN_REFUSED, SmtpReply
from mailqueue.smtp.server.handler import LoggedIn, LoginAttempt, ServerLimits, SmtpService
from mailqueue.smtp.server.login import NameAndPassword
from mailqueue.smtp.server.replies import ReplyQueue
from mailqueue.smtp.server.session import ServerSession
from tests.smtp.server.serving import Memory, connected, serving

pytestmark = pytest.mark.anyio


async def check(attempt: LoginAttempt) -> LoggedIn | SmtpReply:
    await asyncio.sleep(0)
    is_ann = (attempt.name, attempt.password) == ("ann", "sécret")
    return LoggedIn(client=81) if is_ann else LOGIN_REFUSED


def plain(text: str) -> bytes:
    return base64.b64encode(text.encode())


async def test_smtplib_logs_in_by_either_mechanism_and_the_envelope_says_who() -> None:
    memory = Memory()

    def send(port: int, mechanism: str) -> None:
        with smtplib.SMTP("127.0.0.1", port, timeout=60) as smtp:
            smtp.ehlo()
            smtp.user, smtp.password = "ann", "secret"
            smtp.auth(mechanism, smtp.auth_plain if mechanism == "PLAIN" else smtp.auth_login)
            smtp.sendmail("a@example.org", ["ann@example.com"], b"x\r\n")

    async def only_ann(attempt: LoginAttempt) -> LoggedIn | SmtpReply:
        is_ann = (attempt.name, attempt.password) == ("ann", "secret")
        return LoggedIn(client=81) if is_ann and attempt.address == "127.0.0.1" else LOGIN_REFUSED

    async with serving(memory, authenticate=only_ann) as port:
        await asyncio.to_thread(send, port, "PLAIN")
        await asyncio.to_thread(send, port, "LOGIN")

    assert [(envelope.login, envelope.client) for envelope, _ in memory.taken] == [("ann", 81)] * 2


async def test_without_a_login_nothing_is_taken() -> None:
    async with serving(authenticate=check) as port, connected(port) as client:
        assert await client.ask(b"MAIL FROM:<a@example.org>") == "530 5.7.0 authentication required"
        assert (await client.ask(b"AUTH PLAIN " + plain("\0ann\0sécret")))[:3] == "235"
        assert (await client.ask(b"AUTH PLAIN " + plain("\0ann\0sécret")))[:3] == "503"
        assert (await client.ask(b"MAIL FROM:<a@example.org>"))[:3] == "250"


async def test_commands_behind_a_login_wait_for_its_verdict() -> None:
    async with serving(authenticate=check) as port, connected(port) as client:
        client.send(b"AUTH PLAIN " + plain("\0ann\0sécret") + b"\r\nMAIL FROM:<a@example.org>\r\n")
        assert await client.codes(2) == ["235", "250"]


async def test_wrong_passwords_end_the_conversation() -> None:
    async with serving(authenticate=check) as port, connected(port) as client:
        for code in ("535", "535", "421"):
            assert (await client.ask(b"AUTH PLAIN " + plain("\0ann\0wrong")))[:3] == code
        assert await client.rest() == ""


@pytest.mark.parametrize(
    ("lines", "codes"),
    [
        ([b"AUTH LOGIN", b"*"], ["334 VXNlc", "501 5.7.0"]),
        ([b"AUTH LOGIN", b"!!!"], ["334 VXNlc", "501 5.5.2"]),
        ([b"AUTH PLAIN !!!"], ["501 5.5.2"]),
        ([b"AUTH PLAIN", plain("no zeros")], ["334 ", "501 5.5.4"]),
        ([b"AUTH CRAM-MD5"], ["504 5.5.4"]),
        ([b"AUTH"], ["501 5.5.4"]),
        ([b"AUTH PLAIN ="], ["501 5.5.4"]),
    ],
)
async def test_a_broken_login_is_refused_and_the_conversation_goes_on(
    lines: list[bytes], codes: list[str]
) -> None:
    async with serving(authenticate=check) as port, connected(port) as client:
        assert [(await client.ask(line))[:9] for line in lines] == codes
        assert (await client.ask(b"NOOP"))[:3] == "250"


async def test_a_response_without_end_ends_the_conversation() -> None:
    async with serving(authenticate=check) as port, connected(port) as client:
        assert (await client.ask(b"AUTH PLAIN"))[:3] == "334"
        client.send(b"A" * 13_000)
        assert (await client.answer())[:9] == "500 5.5.6"


async def test_an_idle_client_without_login_is_closed_before_one_that_logged_in() -> None:
    limits = ServerLimits(login_s=0.05)
    async with (
        serving(authenticate=check, limits=limits) as port,
        connected(port, greeted=False) as client,
    ):
        assert (await client.answer())[:9] == "421 4.4.2"


async def test_a_server_without_accounts_offers_no_login() -> None:
    async with serving() as port, connected(port) as client:
        assert (await client.ask(b"AUTH PLAIN " + plain("\0ann\0x")))[:3] == "500"


async def test_a_login_that_succeeds_after_its_connection_was_closed_holds_nothing() -> None:
    """Waits for a connection of a pool may end with one although they were cancelled."""
    left: list[str] = []

    async def late(_: LoginAttempt) -> LoggedIn:
        session.ended()
        return LoggedIn(leave=lambda: left.append("left"))

    service = SmtpService(Memory(), ServerLimits(), "mx.example.com", late)
    session = ServerSession(service, ReplyQueue(asyncio.get_running_loop(), lambda: None))
    await session._log_in(NameAndPassword("ann", "secret"))

    assert left == ["left"]
