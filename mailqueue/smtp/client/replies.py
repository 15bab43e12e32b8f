"""Parses an SMTP server's replies from received bytes, split at any place. Pure."""

import re
from dataclasses import dataclass, field, replace
from typing import NamedTuple

MAX_LINE_BYTES = 4096  # RFC 5321 section 4.5.3.1.5 allows 512; some servers send more
MAX_LINES = 128
MAX_DETAIL_CHARS = 500
MAX_SHOWN_LINES = 8
"""Lines of an unfinished reply that are shown."""

LINE = re.compile(rb"([2-5][0-9][0-9])(?:([ -])([^\0\r\n]*))?\r?\n")
ENHANCED = re.compile(r"([245]\.\d{1,3}\.\d{1,3})(?:\s|$)")


class Reply(NamedTuple):
    """One whole reply. A tuple, because four are created for every email."""

    code: int
    text: bytes  # without codes and line ends; lines joined by LF

    def enhanced(self) -> str:
        """Return the RFC 3463 code that begins the text; "" if none fits the reply code."""
        return enhanced_code(self.code, self.detail())

    def detail(self) -> str:
        """Return the text as one printable line of bounded length."""
        text = self.text.decode("utf-8", "replace")
        return text if len(text) <= MAX_DETAIL_CHARS and text.isprintable() else _printable(text)


@dataclass(frozen=True, slots=True)
class Malformed:
    """Bytes that are not a reply; what follows them is not read.

    `unread` is what was received since the last whole reply, up to the end of the line at fault, at
    most MAX_LINE_BYTES.
    """

    why: str
    unread: bytes = field(default=b"", compare=False, repr=False)


class ReplyReader:
    """Parses received bytes into replies; keeps at most one unfinished reply of bounded size."""

    __slots__ = ("_code", "_lines", "_rest")

    def __init__(self) -> None:
        self._rest = b""
        self._code = b""
        self._lines: list[bytes] = []

    @property
    def is_between_replies(self) -> bool:
        """Return whether every byte received so far belongs to a finished reply."""
        return not self._rest and not self._lines

    @property
    def unfinished(self) -> bytes:
        """Return at most MAX_LINE_BYTES of the unfinished reply."""
        lines = b"".join(
            self._code + b"-" + line + b"\r\n" for line in self._lines[:MAX_SHOWN_LINES]
        )
        return (lines + self._rest)[:MAX_LINE_BYTES]

    def feed(self, data: bytes) -> list[Reply | Malformed]:
        """Return the replies that these bytes complete; only the last can be Malformed."""
        if self._rest:
            data = self._rest + data
            self._rest = b""
        replies: list[Reply | Malformed] = []
        start = 0
        while match := LINE.match(data, start):
            code, mark, text = match.groups()
            end = match.end()
            if end - start > MAX_LINE_BYTES:
                break
            start = end
            if mark != b"-" and not self._lines:
                replies.append(Reply(int(code), text or b""))
                continue
            fault = self._take_part(code, mark, text or b"", replies)
            if fault is not None:
                replies.append(self._with_unread(fault, match[0]))
                return replies
        if start < len(data):
            fault = _unfinished(data, start)
            if fault is None:
                self._rest = data[start:]
            else:
                # The lines after it may be replies about the next email.
                end = data.find(b"\n", start, start + MAX_LINE_BYTES) + 1
                replies.append(
                    self._with_unread(fault, data[start : end or start + MAX_LINE_BYTES])
                )
        return replies

    def _with_unread(self, fault: Malformed, data: bytes) -> Malformed:
        unread = self.unfinished + data
        self._lines = []
        return replace(fault, unread=unread[:MAX_LINE_BYTES])

    def _take_part(
        self, code: bytes, mark: bytes | None, text: bytes, replies: list[Reply | Malformed]
    ) -> Malformed | None:
        """Read one line of a multi-line reply."""
        if self._lines and code != self._code:
            return Malformed("a reply whose lines carry different codes")
        if len(self._lines) >= MAX_LINES:
            return Malformed(f"a reply of more than {MAX_LINES} lines")
        self._code = code
        self._lines.append(text)
        if mark != b"-":
            replies.append(Reply(int(code), b"\n".join(self._lines)))
            self._lines = []
        return None


def enhanced_code(code: int, text: str) -> str:
    """Return the enhanced code at the start of the text if its class fits the reply code."""
    match = ENHANCED.match(text)
    return match[1] if match and match[1][0] == str(code)[0] else ""


def _unfinished(data: bytes, start: int) -> Malformed | None:
    """Return what is wrong with an incomplete line, or None if more bytes may complete it."""
    if data.find(b"\n", start, start + MAX_LINE_BYTES) >= 0:
        return Malformed("a line that is not an SMTP reply")
    if len(data) - start >= MAX_LINE_BYTES:
        return Malformed(f"a line longer than {MAX_LINE_BYTES} bytes")
    return None


def _printable(text: str) -> str:
    kept = "".join(
        char if char.isprintable() else " " if char in "\r\n\t" else "\ufffd"
        for char in text[:MAX_DETAIL_CHARS]
    )
    return kept.strip()
