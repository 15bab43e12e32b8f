"""The record of an attempt over SMTP that was not accepted: both sides, times, no message."""

import base64
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from mailqueue.adapters.sending.smtp import SmtpChannel, SmtpTransport
from mailqueue.core.conversation import MAX_BYTES, document_of
from mailqueue.core.verdict import Accepted, AllRefused, Fault, Rejected, Verdict, conversation_of
from mailqueue.smtp.client.session import TlsMode
from tests.smtp.certificates import server_context, trusting_context
from tests.smtp.client.scripted import CLOSE, PLAIN_EHLO, USUAL_EHLO, scripted
from tests.smtp.client.sending import channel_to, mail, mails, send
from tests.smtp.reference_server import PASSWORD, ReceivedMail, account, judge

pytestmark = pytest.mark.anyio
LARGE = b"Subject: hi\r\n\r\n" + b"x" * 70 + b"\r\n" + b"secret body\r\n" * 10_000


def said(verdict: Verdict) -> list[tuple[str, str]]:
    """Return who said what; times must not fall, and the document must be within its bound."""
    record = conversation_of(verdict)
    assert record is not None
    document = document_of(record)
    assert len(document) <= MAX_BYTES
    lines = json.loads(document)["lines"]
    times = [line["ms"] for line in lines]
    assert times == sorted(times)
    return [(line["by"], line["text"]) for line in lines]


def of(verdict: Verdict, by: str) -> list[str]:
    return [text for who, text in said(verdict) if who == by]


@pytest.mark.parametrize("ehlo", [USUAL_EHLO, PLAIN_EHLO], ids=["in a group", "one by one"])
async def test_both_sides_are_recorded_in_order(ehlo: Sequence[str]) -> None:
    refusal = b"550-5.1.1 <b>no</b> such user\r\n550 5.1.1 really\r\n"
    async with scripted(ehlo=ehlo, RCPT=[refusal]) as server, channel_to(server.port) as channel:
        [verdict] = (await send(channel, [mail()])).verdicts

    assert isinstance(verdict, Rejected)
    lines = said(verdict)
    hello = len(ehlo) + 1
    assert lines[0] == ("server", "220 mx.example.com ESMTP")
    assert lines[1][0] == "client"
    assert lines[1][1].startswith("EHLO [127.0.0.1]")
    assert [by for by, _ in lines[2 : 2 + hello]] == ["server"] * hello
    client = of(verdict, "client")[1:]
    assert client[0].startswith("MAIL FROM:<bounce@example.org> SIZE=")
    assert client[1] == "RCPT TO:<ann@example.com>"
    server_said = of(verdict, "server")[1 + hello :]
    assert server_said[:3] == ["250 2.1.0 ok", "550-5.1.1 <b>no</b> such user", "550 5.1.1 really"]
    if ehlo is PLAIN_EHLO:
        assert lines.index(("server", "250 2.1.0 ok")) < lines.index(("client", client[1]))
    else:
        assert client[2:] == ["DATA"]
        assert server_said[3:] == ["554 5.5.1 no recipients"]


@pytest.mark.parametrize(
    "body", [b"Subject: hi\r\n\r\nsecret body\r\n", LARGE], ids=["small", "large"]
)
async def test_a_connection_lost_after_the_message_shows_that_it_was_sent(body: bytes) -> None:
    async with scripted(dot=[CLOSE]) as server, channel_to(server.port) as channel:
        [verdict] = (await send(channel, [mail(body=body)])).verdicts

    assert isinstance(verdict, Rejected)
    assert verdict.kind is Fault.AMBIGUOUS
    lines = said(verdict)
    assert lines[-3:-1] == [("client", f"(the message, {len(body)} bytes)"), ("client", ".")]
    assert lines[-1][0] == "note"
    assert lines[-1][1] in ("the server closed the connection", "the connection broke")
    assert "secret body" not in repr(lines)


async def test_accepted_emails_have_no_record_and_others_only_their_own() -> None:
    ok = b"250 2.0.0 queued\r\n"
    busy = b"451 4.3.0 later\r\n"
    async with scripted(dot=[ok, ok, busy, ok]) as server, channel_to(server.port) as channel:
        verdicts = (await send(channel, mails(4))).verdicts
        again = (await send(channel, [mail("zoe@example.com")])).verdicts

    kinds = [type(verdict) for verdict in (*verdicts, *again)]
    assert kinds == [Accepted, Accepted, Rejected, Accepted, Accepted]
    assert [conversation_of(verdict) for verdict in verdicts[:2]] == [None, None]
    lines = said(verdicts[2])
    assert lines[0] == ("server", "220 mx.example.com ESMTP")
    own = [text for by, text in lines[lines.index(("client", "RCPT TO:<user2@example.com>")) :]]
    size = len(mail().message)
    assert own == [
        "RCPT TO:<user2@example.com>",
        "DATA",
        "250 2.1.0 ok",
        "250 2.1.5 ok",
        "354 go ahead",
        f"(the message, {size} bytes)",
        ".",
        "451 4.3.0 later",
    ]
    assert "user1@" not in repr(lines)
    assert "user3@" not in repr(lines)


async def test_a_reset_before_an_email_is_part_of_its_record() -> None:
    no = b"550 5.1.1 no\r\n"
    later = b"450 4.2.0 greylisted\r\n"
    async with (
        scripted(ehlo=PLAIN_EHLO, RCPT=[no, later]) as server,
        channel_to(server.port) as channel,
    ):
        _, verdict = (await send(channel, mails(2))).verdicts

    client = of(verdict, "client")[1:]
    assert client[0] == "RSET"
    assert client[2] == "RCPT TO:<user1@example.com>"
    assert of(verdict, "server")[-3:] == ["250 2.0.0 ok", "250 2.1.0 ok", later.decode().strip()]


async def test_recipients_refused_beside_accepted_ones_are_recorded() -> None:
    no = b"550 5.1.1 no\r\n"
    several = mail("ann@example.com", "bob@example.com")
    async with (
        scripted(RCPT=[b"250 ok\r\n", no]) as server,
        channel_to(server.port) as channel,
    ):
        [partly] = (await send(channel, [several])).verdicts
    async with scripted(RCPT=[no, no]) as server, channel_to(server.port) as channel:
        [none] = (await send(channel, [several])).verdicts

    assert isinstance(partly, Accepted)
    assert of(partly, "server")[-1] == "250 2.0.0 queued"
    assert isinstance(none, AllRefused)
    for verdict in (partly, none):
        assert "550 5.1.1 no" in of(verdict, "server")
        assert "RCPT TO:<bob@example.com>" in of(verdict, "client")


@pytest.mark.parametrize(
    "reply",
    [
        b"550 " + b"A" * 1_000_000 + b"\r\n",
        b"".join(b"550-%05d" % n + b"B" * 1_000 + b"\r\n" for n in range(1_000)),
        b"550 \x00\x07\x1b[31m\xff\xfe\xe2\x80\xae</pre><script>alert(1)</script>\r\n",
        b"<html>\r\n<h1>Bad gateway</h1>\r\n",
        b"550-5.1.1 half",
        b"550-5.1.1 half\r\n550",
    ],
    ids=["a line of 1 MB", "lines of 1 MB", "controls", "not smtp", "half a line", "half a reply"],
)
async def test_whatever_a_server_says_is_kept_within_the_bound(reply: bytes) -> None:
    async with scripted(dot=[[reply, CLOSE]]) as server, channel_to(server.port) as channel:
        [verdict] = (await send(channel, [mail()])).verdicts

    heard = of(verdict, "server")
    first = reply[:10].decode("latin-1").split("\x00")[0]
    assert any(
        line.removeprefix("(not a whole reply) ").startswith(first.split("\r")[0]) for line in heard
    ), heard
    assert not set(repr(heard)) & {"\0", "\x07", "\x1b", "\u202e"}
    if not reply.endswith(b"\r\n") or b"html" in reply or len(reply) > 10_000:
        assert "(not a whole reply)" in repr(heard)
        assert [text for text in of(verdict, "note") if "left out" not in text]


async def test_many_recipients_keep_the_beginning_and_the_end() -> None:
    several = mail(*(f"user{n:04}@example.com" for n in range(500)))
    async with scripted(dot=[b"554 5.7.1 spam\r\n"]) as server, channel_to(server.port) as channel:
        [verdict] = (await send(channel, [several])).verdicts

    assert of(verdict, "server")[-1] == "554 5.7.1 spam"
    assert "RCPT TO:<user0000@example.com>" in of(verdict, "client")
    assert any("lines are left out" in text for text in of(verdict, "note"))


async def test_tls_and_login_are_recorded_without_the_password(tmp_path: Path) -> None:
    class Refusing(ReceivedMail):
        async def handle_DATA(self, *_: object) -> str:  # noqa: N802
            return f"554 5.7.1 {PASSWORD} in the message"

    context = server_context(tmp_path, name="127.0.0.1")
    async with judge(Refusing(), auth=True, starttls=context) as port:
        transport = SmtpTransport(
            account(port, TlsMode.STARTTLS, user="ann"), tls_context=trusting_context(tmp_path)
        )
        channel = await transport.open()
        assert isinstance(channel, SmtpChannel), channel
        [verdict] = (await send(channel, [mail()])).verdicts
        await channel.close()

    lines = said(verdict)
    verbs = [text.split()[0].partition(":")[0] for by, text in lines if by == "client"]
    assert verbs == ["EHLO", "STARTTLS", "EHLO", "AUTH", "MAIL", "RCPT", "DATA", "(the", "."]
    assert ("client", "AUTH PLAIN ***") in lines
    [tls] = [text for by, text in lines if by == "note"]
    assert tls.startswith("TLSv1.")
    assert "_" in tls
    assert lines[-1] == ("server", "554 5.7.1 *** in the message")
    encoded = base64.b64encode(f"\0ann\0{PASSWORD}".encode()).decode()
    assert PASSWORD not in repr(lines)
    assert encoded not in repr(lines)


async def test_a_session_that_is_not_opened_has_a_record_of_its_opening() -> None:
    encoded = base64.b64encode(f"\0ann\0{PASSWORD}".encode()).decode()
    no = f"535 5.7.8 {encoded} {PASSWORD}\r\n".encode()
    async with scripted(ehlo=("AUTH PLAIN",), AUTH=[no]) as server:
        login = await SmtpTransport(account(server.port, TlsMode.NONE, user="ann")).open()
    async with scripted(CONNECT=[b"554 5.7.1 blocked\r\n"]) as server:
        blocked = await SmtpTransport(account(server.port, TlsMode.NONE)).open()

    assert isinstance(login, Rejected)
    assert said(login)[-3:] == [
        ("client", "AUTH PLAIN ***"),
        ("server", "535 5.7.8 *** ***"),
        ("note", "535 5.7.8 *** ***"),
    ]
    assert isinstance(blocked, Rejected)
    assert said(blocked) == [("note", "554 5.7.1 blocked")]


async def test_a_password_that_is_a_part_of_its_encoding_is_redacted_whole() -> None:
    encoded = base64.b64encode(b"\0ann\0A").decode()
    assert "A" in encoded
    no = f"550 5.7.1 {encoded}\r\n".encode()
    async with scripted(ehlo=("AUTH PLAIN",), RCPT=[no]) as server:
        channel = await SmtpTransport(
            account(server.port, TlsMode.NONE, user="ann", password="A")
        ).open()
        assert isinstance(channel, SmtpChannel), channel
        [verdict] = (await send(channel, [mail()])).verdicts
        await channel.close()

    assert "550 5.7.1 ***" in of(verdict, "server")


async def test_what_follows_a_broken_reply_is_about_another_email_and_left_out() -> None:
    """The envelope of the next email was sent with the message; its replies name its recipient."""
    ahead = b"250 2.1.0 ok\r\n250 2.1.5 <user1@example.com> ok\r\n354 go ahead\r\n"
    reply = b"queued as 7\r\n" + ahead
    async with scripted(dot=[[reply, CLOSE]]) as server, channel_to(server.port) as channel:
        first, _ = (await send(channel, mails(2))).verdicts

    assert of(first, "server")[-1] == "(not a whole reply) queued as 7"
    assert "user1@" not in repr(said(first))
