"""Any input to the submission server, split anywhere, gets replies in valid lines."""

import asyncio
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mailqueue.smtp.server.answer import SmtpReply
from mailqueue.smtp.server.handler import LoggedIn, LoginAttempt, ReceivedEnvelope
from mailqueue.smtp.server.listener import smtp_server
from mailqueue.submission.server import LIMITS


class Counting:
    """Accepts everything and records it."""

    def __init__(self) -> None:
        self.taken: list[tuple[ReceivedEnvelope, bytes]] = []

    def check_recipient(self, address: str) -> SmtpReply | None:  # noqa: ARG002
        return None

    async def accept(self, envelope: ReceivedEnvelope, raw: bytes) -> SmtpReply | None:
        self.taken.append((envelope, raw))
        return SmtpReply(250, "2.0.0", "Ok")


async def _everybody(_attempt: LoginAttempt) -> LoggedIn | SmtpReply:
    return LoggedIn()


PIECES = st.sampled_from(
    [
        b"EHLO x\r\n",
        b"AUTH PLAIN AGEAYg==\r\n",
        b"AUTH LOGIN\r\n",
        b"YQ==\r\n",
        b"*\r\n",
        b"MAIL FROM:<a@example.com>\r\n",
        b"MAIL FROM:<> SIZE=99999999999\r\n",
        b"RCPT TO:<b@example.com>\r\n",
        b"RCPT TO:<jurgen@ex\xc3\xa4mple.com>\r\n",
        b"DATA\r\n",
        b"STARTTLS\r\n",
        b"RSET\r\n",
        b"NOOP\r\n",
        b"QUIT\r\n",
        b"BDAT 5 LAST\r\n",
        b"Subject: x\r\n\r\n..y\r\n",
        b".\r\n",
        b"\r\n.\r\n",
        b"\n.\n",
        b"\r",
        b"\n",
        b"\0",
        b"\xff\xfe",
        b"A" * 600,
    ]
)


async def _fuzzed(pieces: list[bytes], cuts: list[int]) -> tuple[Counting, bytes]:
    handler = Counting()
    limits = replace(LIMITS, message_bytes=2_000)
    server = smtp_server(handler, host="127.0.0.1", port=0, authenticate=_everybody, limits=limits)
    async with server as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        sent = b"".join(pieces)
        places = sorted({0, len(sent), *(cut % (len(sent) + 1) for cut in cuts)})
        for start, end in pairwise(places):
            writer.write(sent[start:end])
            await asyncio.sleep(0)
        try:
            writer.write_eof()
            said = await asyncio.wait_for(reader.read(), 60)
        except OSError:  # it hung up while we spoke
            said = b""
        writer.close()
    return handler, said


def _check(handler: Counting, said: bytes) -> None:
    """Check that replies are lines with codes, and that accepted messages are valid."""
    for line in said.split(b"\r\n")[:-1]:
        assert line[:3].isdigit(), line
        assert line[3:4] in b" -", line
    for envelope, raw in handler.taken:
        assert 0 < len(envelope.recipients) <= 50
        assert b"\0" not in raw
        assert len(raw) <= 2_000
        assert raw.replace(b"\r\n", b"").translate(None, b"\r\n") == raw.replace(b"\r\n", b"")


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(st.lists(PIECES, max_size=25), st.lists(st.integers(0, 10_000), max_size=6))
def test_whatever_is_said_is_answered_and_nothing_unsound_is_taken(
    pieces: list[bytes], cuts: list[int]
) -> None:
    _check(*asyncio.run(_fuzzed([b"EHLO x\r\n", *pieces], cuts)))


@pytest.mark.soak
@settings(max_examples=20_000, suppress_health_check=list(HealthCheck))
@given(
    st.lists(PIECES | st.binary(max_size=40), max_size=40),
    st.lists(st.integers(0, 10_000), max_size=10),
)
def test_whatever_is_said_for_long(pieces: list[bytes], cuts: list[int]) -> None:
    _check(*asyncio.run(_fuzzed(pieces, cuts)))
