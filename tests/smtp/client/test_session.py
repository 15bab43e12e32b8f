"""Opening a session: TLS is never dropped, passwords are never shown, refusals are classified."""

import asyncio
import base64
import socket
import ssl
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mailqueue.adapters.sending.smtp import SmtpChannel, SmtpTransport
from mailqueue.core.verdict import Accepted, Fault, Rejected
from mailqueue.smtp.client.session import SessionOptions, TlsMode, open_session
from tests.smtp.certificates import server_context, trusting_context
from tests.smtp.client.scripted import CLOSE, SILENT, Answer, scripted
from tests.smtp.client.sending import BODY, PATIENT, mail, mails, send
from tests.smtp.reference_server import PASSWORD, ReceivedMail, account, judge, refused

pytestmark = pytest.mark.anyio

LOGIN_EHLO = ("PIPELINING", "AUTH PLAIN LOGIN")


@pytest.mark.parametrize("mode", [TlsMode.STARTTLS, TlsMode.IMPLICIT])
@pytest.mark.parametrize("without", [(), ("PLAIN",)], ids=["plain", "login"])
async def test_mail_goes_through_tls_and_a_login(
    tmp_path: Path, mode: TlsMode, without: tuple[str, ...]
) -> None:
    context = server_context(tmp_path, name="127.0.0.1")
    mailbox = ReceivedMail()
    tls: dict[str, Any] = {"starttls" if mode is TlsMode.STARTTLS else "implicit": context}
    async with judge(mailbox, auth=mode is TlsMode.STARTTLS, without=without, **tls) as port:
        user = "ann" if mode is TlsMode.STARTTLS else ""
        transport = SmtpTransport(
            account(port, mode, user=user), tls_context=trusting_context(tmp_path)
        )
        channel = await transport.open()
        assert isinstance(channel, SmtpChannel), channel

        reports = await send(channel, mails(3))
        await channel.close()

    assert all(isinstance(verdict, Accepted) for verdict in reports.verdicts)
    assert mailbox.messages == [
        ("bounce@example.org", [f"user{n}@example.com"], BODY) for n in range(3)
    ]


class FarSocket(socket.socket):
    """A socket that reports a public peer address."""

    def getpeername(self) -> tuple[str, int]:
        return ("8.8.8.8", 587)


async def test_a_password_is_not_sent_over_the_internet_without_tls() -> None:
    sock = FarSocket()
    login = SessionOptions("mx.example.com", TlsMode.NONE, ssl.create_default_context(), "ann")

    found = await open_session(sock, login, PATIENT)

    assert isinstance(found, Rejected)
    assert found.kind is Fault.ACCOUNT
    assert sock.fileno() == -1


async def test_a_wrong_password_stops_the_account_and_is_tried_once(tmp_path: Path) -> None:
    context = server_context(tmp_path, name="127.0.0.1")
    async with judge(ReceivedMail(), starttls=context, auth=True) as port:
        one = account(port, TlsMode.STARTTLS, user="ann", password="wrong")
        found = await refused(SmtpTransport(one, tls_context=trusting_context(tmp_path)))

    assert (found.kind, found.code, found.enhanced) == (Fault.ACCOUNT, "535", "5.7.8")


async def test_an_untrusted_certificate_is_refused(tmp_path: Path) -> None:
    context = server_context(tmp_path, name="127.0.0.1")
    async with judge(ReceivedMail(), starttls=context) as port:
        found = await refused(
            SmtpTransport(account(port, TlsMode.STARTTLS), tls_context=ssl.create_default_context())
        )

    assert found.kind is Fault.ACCOUNT
    assert "certificate" in found.detail


@pytest.mark.parametrize("mode", [TlsMode.STARTTLS, TlsMode.IMPLICIT])
async def test_a_certificate_for_another_name_is_refused(tmp_path: Path, mode: TlsMode) -> None:
    """The name in the account is checked, not the address it resolved to."""
    context = server_context(tmp_path, name="mx.example.com")
    tls: dict[str, Any] = {"starttls" if mode is TlsMode.STARTTLS else "implicit": context}
    async with judge(ReceivedMail(), **tls) as port:
        found = await refused(
            SmtpTransport(
                account(port, mode, host="localhost"), tls_context=trusting_context(tmp_path)
            )
        )

    assert found.kind is Fault.ACCOUNT
    assert "certificate" in found.detail


async def test_tls_is_asked_for_by_the_name_in_the_account(tmp_path: Path) -> None:
    context = server_context(tmp_path, name="localhost")
    asked: list[str | None] = []
    context.sni_callback = lambda _, name, __: asked.append(name)
    async with judge(ReceivedMail(), implicit=context) as port:
        channel = await SmtpTransport(
            account(port, TlsMode.IMPLICIT, host="localhost"),
            tls_context=trusting_context(tmp_path),
        ).open()
        assert isinstance(channel, SmtpChannel), channel
        await channel.close()

    assert asked == ["localhost"]


async def test_without_starttls_nothing_is_said_in_clear() -> None:
    async with scripted(ehlo=LOGIN_EHLO) as server:
        found = await refused(SmtpTransport(account(server.port, TlsMode.STARTTLS, user="ann")))

    assert found.kind is Fault.ACCOUNT
    assert server.verbs == ["EHLO"]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (b"454 4.7.0 TLS not available now\r\n", Fault.TRANSIENT),
        (b"502 5.5.1 no\r\n", Fault.TRANSIENT),
        (b"250 fine\r\n", Fault.TRANSIENT),
        (b"220 go\r\nnot TLS at all\r\n", Fault.TRANSIENT),
    ],
)
async def test_starttls_refused_ends_the_session(answer: bytes, kind: Fault) -> None:
    goes_silent = answer.startswith(b"220")
    timeouts = replace(PATIENT, connect_s=2, command_s=2) if goes_silent else PATIENT
    async with scripted(ehlo=("STARTTLS", "AUTH PLAIN"), STARTTLS=[answer]) as server:
        one = account(server.port, TlsMode.STARTTLS, user="ann", timeouts=timeouts)
        found = await refused(SmtpTransport(one))

    assert found.kind is kind
    assert server.verbs == ["EHLO", "STARTTLS"]


async def test_what_was_said_in_clear_before_tls_is_forgotten(tmp_path: Path) -> None:
    """An attacker appends an EHLO reply to the one of STARTTLS; it must not count under TLS."""
    context = server_context(tmp_path, name="127.0.0.1")
    heard: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 hi\r\n")
        await reader.readline()
        writer.write(b"250-x\r\n250-PIPELINING\r\n250 STARTTLS\r\n")
        await reader.readline()
        writer.write(b"220 go\r\n250-evil\r\n250-SIZE 1\r\n250 PIPELINING\r\n")
        await writer.start_tls(context)
        heard.append(await reader.readline())
        writer.write(b"250-x\r\n250 8BITMIME\r\n")
        heard.append(await reader.readline())
        writer.write(b"250 ok\r\n")
        heard.append(await reader.readline())
        writer.write(b"451 later\r\n")
        await reader.read()
        writer.close()

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listener:
        port = listener.sockets[0].getsockname()[1]
        channel = await SmtpTransport(
            account(port, TlsMode.STARTTLS), tls_context=trusting_context(tmp_path)
        ).open()
        assert isinstance(channel, SmtpChannel), channel
        reports = await send(channel, [mail()])
        await channel.close()

    assert [verdict.code for verdict in reports.rejected] == ["451"]
    assert heard[1] == b"MAIL FROM:<bounce@example.org>\r\n"  # no SIZE, and one at a time


@pytest.mark.parametrize(
    ("script", "kind", "code"),
    [
        ({"CONNECT": [b"421 4.3.2 busy\r\n"]}, Fault.TRANSIENT, "421"),
        ({"CONNECT": [b"554 5.7.1 go away\r\n"]}, Fault.TRANSIENT, "554"),
        ({"CONNECT": [b"250 what\r\n"]}, Fault.TRANSIENT, ""),
        ({"CONNECT": [b"\xff\xfe\x00garbage\r\n"]}, Fault.TRANSIENT, ""),
        ({"CONNECT": [CLOSE]}, Fault.TRANSIENT, ""),
        ({"CONNECT": [SILENT]}, Fault.TRANSIENT, ""),
        ({"CONNECT": [b"220-" + b"x" * 10_000_000 + b"\r\n"]}, Fault.TRANSIENT, ""),
        ({"EHLO": [b"421 4.3.2 busy\r\n"]}, Fault.TRANSIENT, "421"),
        ({"EHLO": [b"550 bad name\r\n"]}, Fault.TRANSIENT, "550"),
        ({"EHLO": [b"550 account suspended\r\n"]}, Fault.ACCOUNT, "550"),
        ({"EHLO": [b"502 what\r\n"]}, Fault.TRANSIENT, "502"),
        ({"EHLO": [CLOSE]}, Fault.TRANSIENT, ""),
        ({"EHLO": [b"250-more\r\n" * 100_000]}, Fault.TRANSIENT, ""),
        ({"AUTH": [b"454 4.7.0 later\r\n"]}, Fault.TRANSIENT, "454"),
        ({"AUTH": [b"432 4.7.12 change it\r\n"]}, Fault.ACCOUNT, "432"),
        ({"AUTH": [b"535 5.7.8 no\r\n"]}, Fault.ACCOUNT, "535"),
        ({"AUTH": [b"534 5.7.9 no\r\n"]}, Fault.ACCOUNT, "534"),
        ({"AUTH": [b"504 5.5.4 no\r\n"]}, Fault.ACCOUNT, "504"),
        ({"AUTH": [b"421 4.7.0 too many\r\n"]}, Fault.TRANSIENT, "421"),
        ({"AUTH": [b"535 5.7.0 too many failed logins\r\n"]}, Fault.RATE_LIMITED, "535"),
        ({"AUTH": [CLOSE]}, Fault.TRANSIENT, ""),
        ({"AUTH": [SILENT]}, Fault.TRANSIENT, ""),
    ],
)
async def test_every_refusal_while_opening_has_its_kind(
    script: dict[str, list[Answer]], kind: Fault, code: str
) -> None:
    is_silent = [SILENT] in script.values()
    timeouts = replace(PATIENT, command_s=0.5) if is_silent else PATIENT
    async with scripted(script, ehlo=LOGIN_EHLO) as server:
        one = account(server.port, TlsMode.NONE, user="ann", timeouts=timeouts)
        found = await refused(SmtpTransport(one))

    assert (found.kind, found.code) == (kind, code)


async def test_a_server_that_knows_only_helo_is_spoken_to_plainly() -> None:
    async with scripted(EHLO=[b"502 5.5.1 what\r\n"]) as server:
        channel = await SmtpTransport(account(server.port, TlsMode.NONE)).open()
        assert isinstance(channel, SmtpChannel), channel
        reports = await send(channel, [mail()])
        await channel.close()

    assert isinstance(reports.verdicts[0], Accepted)
    assert b"MAIL FROM:<bounce@example.org>" in server.commands


def _plain() -> str:
    return base64.b64encode(f"\0ann\0{PASSWORD}".encode()).decode()


@pytest.mark.parametrize(
    "echo",
    [
        lambda: PASSWORD,
        lambda: base64.b64encode(PASSWORD.encode()).decode(),
        _plain,
    ],
    ids=["text", "login", "plain"],
)
async def test_a_password_the_server_echoes_is_not_in_the_answer(echo: Callable[[], str]) -> None:
    answer = f"535 5.7.8 AUTH PLAIN {echo()} refused for ann\r\n".encode()
    async with scripted(ehlo=LOGIN_EHLO, AUTH=[answer]) as server:
        transport = SmtpTransport(account(server.port, TlsMode.NONE, user="ann"))
        found = await refused(transport)

    assert found.detail == "5.7.8 AUTH PLAIN *** refused for ***"
    assert PASSWORD not in repr(account(1, TlsMode.NONE, user="ann"))


async def test_no_login_the_server_knows_is_the_accounts_matter() -> None:
    async with scripted(ehlo=("AUTH CRAM-MD5 XOAUTH2",)) as server:
        found = await refused(SmtpTransport(account(server.port, TlsMode.NONE, user="ann")))

    assert found.kind is Fault.ACCOUNT
    assert server.verbs == ["EHLO"]


async def test_a_surplus_reply_while_opening_is_not_used_later() -> None:
    answers: dict[str, list[Answer]] = {
        "AUTH": [b"235 2.7.0 ok\r\n250 ok\r\n"],
        "MAIL": [b"550 5.1.8 no\r\n"],
    }
    async with scripted(answers, ehlo=LOGIN_EHLO) as server:
        channel = await SmtpTransport(account(server.port, TlsMode.NONE, user="ann")).open()
        assert isinstance(channel, SmtpChannel), channel
        reports = await send(channel, [mail()])
        await channel.close()

    assert [verdict.code for verdict in reports.rejected] == ["550"]
