"""The transcript of a session: both sides in order, and no secret in any encoding."""

import base64
from pathlib import Path

import pytest

from mailqueue.adapters.sending.smtp import SmtpChannel, SmtpTransport
from mailqueue.core.verdict import Accepted, Rejected
from mailqueue.smtp.client.session import TlsMode
from mailqueue.smtp.client.transcript import CLIENT, MAX_LINES, SERVER, Transcript
from tests.smtp.certificates import server_context, trusting_context
from tests.smtp.client.scripted import scripted
from tests.smtp.client.sending import mails, send
from tests.smtp.reference_server import PASSWORD, ReceivedMail, account, judge

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("without", [(), ("PLAIN",)], ids=["plain", "login"])
async def test_a_session_is_written_down_to_its_end(
    tmp_path: Path, without: tuple[str, ...]
) -> None:
    transcript = Transcript()
    context = server_context(tmp_path, name="127.0.0.1")
    async with judge(ReceivedMail(), auth=True, without=without, starttls=context) as port:
        transport = SmtpTransport(
            account(port, TlsMode.STARTTLS, user="ann"),
            tls_context=trusting_context(tmp_path),
            transcript=transcript,
        )
        channel = await transport.open()
        assert isinstance(channel, SmtpChannel), channel
        reports = await send(channel, mails(1))
        await channel.close()

    assert all(isinstance(verdict, Accepted) for verdict in reports.verdicts)
    said = [line.text for line in transcript.lines if line.by == CLIENT]
    verbs = [text.split()[0].partition(":")[0] for text in said]
    login = ["AUTH"] if not without else ["AUTH", "***"]
    assert verbs == ["EHLO", "STARTTLS", "EHLO", *login, "MAIL", "RCPT", "DATA", "(the", "QUIT"]
    heard = [line.text[:3] for line in transcript.lines if line.by == SERVER]
    assert heard[0] == "220"
    assert {"235", "354", "221"} <= set(heard)
    everything = repr(transcript.lines)
    for secret in (PASSWORD, base64.b64encode(PASSWORD.encode()).decode()):
        assert secret not in everything
    assert base64.b64encode(f"\0ann\0{PASSWORD}".encode()).decode() not in everything


async def test_a_server_that_repeats_the_password_does_not_show_it() -> None:
    encoded = base64.b64encode(f"\0ann\0{PASSWORD}".encode()).decode()
    refusal = f"535 5.7.8 no: {encoded} means {PASSWORD}\r\n".encode()
    transcript = Transcript()
    async with scripted(ehlo=("AUTH PLAIN",), AUTH=[refusal]) as server:
        transport = SmtpTransport(
            account(server.port, TlsMode.NONE, user="ann"), transcript=transcript
        )
        refused = await transport.open()

    assert isinstance(refused, Rejected)
    assert transcript.lines[-1].text == "535 5.7.8 no: *** means ***"


def test_lines_are_bounded_and_steer_no_terminal() -> None:
    transcript = Transcript()

    transcript.add(SERVER, "250 \x1b[2J\u202ehello\n" * (MAX_LINES + 5))
    long = Transcript()
    long.add(SERVER, "x" * 10_000)

    assert len(transcript.lines) == MAX_LINES
    assert transcript.lines[0].text == "250 \ufffd[2J\ufffdhello"
    assert len(long.lines[0].text) < 1_000
