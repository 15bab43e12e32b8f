"""Records both sides of an SMTP session for testing an account, with secrets redacted."""

import asyncio
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import aiosmtplib

from mailqueue.core.conversation import UNSEEN, SaidBy, SaidLine, without

CLIENT, SERVER, NOTE = SaidBy.CLIENT, SaidBy.SERVER, SaidBy.NOTE
MAX_LINES = 200
_MAX_LINE_CHARACTERS = 500
_GOES_ON = 334
_COMMAND = re.compile(rb"(?:MAIL FROM:|RCPT TO:|DATA\r\n|RSET\r\n|QUIT\r\n|NOOP\r\n)")


@dataclass(frozen=True, slots=True)
class TranscriptLine:
    """One line, sent by `client` (this program) or `server`, or a `note`.

    `at` is the time of the monotonic clock, in seconds.
    """

    by: SaidBy
    text: str
    at: float = field(default=0.0, compare=False, repr=False)


class Transcript:
    """The lines of one session in order, at most `MAX_LINES`."""

    def __init__(self) -> None:
        self.lines: list[TranscriptLine] = []
        self._hidden: list[str] = []

    def hide(self, secrets: Iterable[str]) -> None:
        """Redact these texts in every line added from now on."""
        self._hidden = sorted(filter(None, secrets), key=len, reverse=True)

    def add(self, by: SaidBy, text: str) -> None:
        """Add a text of one or more lines."""
        at = time.monotonic()
        for line in text.splitlines():
            if len(self.lines) >= MAX_LINES:
                return
            shown = UNSEEN.sub("\ufffd", without(line, self._hidden))
            self.lines.append(TranscriptLine(by, shown[:_MAX_LINE_CHARACTERS], at))

    def since(self, start: int, began: float) -> list[SaidLine]:
        """Return the lines from an index on, with milliseconds since `began`."""
        return [
            SaidLine(max(0, round((line.at - began) * 1000)), line.by, line.text)
            for line in self.lines[start:]
        ]

    def add_reply(self, response: aiosmtplib.SMTPResponse) -> None:
        """Add the server's reply."""
        self.add(SERVER, "\n".join(f"{response.code} {one}" for one in _lines(response.message)))

    def add_written(self, data: bytes) -> None:
        """Add what was sent: commands in full, a message as its size in bytes."""
        if _COMMAND.match(data):
            self.add(CLIENT, data.decode("utf-8", "replace"))
        else:
            self.add(CLIENT, f"(the message, {len(data)} bytes)")


def _lines(message: str) -> list[str]:
    return message.splitlines() or [""]


class RecordedSmtp(aiosmtplib.SMTP):
    """An aiosmtplib session that records commands and replies, without credentials."""

    def __init__(self, transcript: Transcript, **options: Any) -> None:
        super().__init__(**options)
        self._transcript = transcript
        self._is_logging_in = False

    async def execute_command(self, *args: bytes, **options: Any) -> aiosmtplib.SMTPResponse:
        """Run a command and record it with its reply."""
        is_secret = self._is_logging_in or args[:1] == (b"AUTH",)
        shown = b" ".join((*args[:2], b"***") if args[:1] == (b"AUTH",) else (b"***",))
        self._transcript.add(CLIENT, (shown if is_secret else b" ".join(args)).decode("latin-1"))
        response = await super().execute_command(*args, **options)
        self._is_logging_in = is_secret and response.code == _GOES_ON
        self._transcript.add_reply(response)
        return response


class RecordedTransport(asyncio.Transport):
    """A transport that records the bytes it passes on."""

    def __init__(self, inner: asyncio.Transport, transcript: Transcript) -> None:
        super().__init__()
        self._inner = inner
        self._transcript = transcript

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Record what is received and pass it on."""
        assert isinstance(protocol, asyncio.Protocol)
        self._inner.set_protocol(_RecordingProtocol(protocol, self._transcript))

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Record the bytes and write them."""
        self._transcript.add_written(bytes(data))
        self._inner.write(data)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Pass the call on."""
        self._inner.set_write_buffer_limits(high, low)

    def get_write_buffer_size(self) -> int:
        """Return the value of the inner transport."""
        return self._inner.get_write_buffer_size()

    def is_closing(self) -> bool:
        """Return the value of the inner transport."""
        return self._inner.is_closing()

    def close(self) -> None:
        """Pass the call on."""
        self._inner.close()

    def abort(self) -> None:
        """Pass the call on."""
        self._inner.abort()


class _RecordingProtocol(asyncio.Protocol):
    """A protocol that records what it receives before it passes it on."""

    def __init__(self, inner: asyncio.Protocol, transcript: Transcript) -> None:
        self._inner = inner
        self._transcript = transcript

    def data_received(self, data: bytes) -> None:
        self._transcript.add(SERVER, data.decode("utf-8", "replace"))
        self._inner.data_received(data)

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._inner.connection_lost(exc)

    def eof_received(self) -> bool | None:
        return self._inner.eof_received()
