"""Parses untrusted messages: header fields and the tree of parts, within limits. Pure.

Never raises, and takes time linear in the size of the message. The standard library parses single
fields only: its parser's time and stack depth grow with the nesting of parts.
"""

import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass
from email.errors import MessageError
from email.message import Message
from typing import NamedTuple

from mailqueue.mime.decode import base64_to_octets

_EMPTY_LINE = re.compile(rb"^\r?\n", re.MULTILINE)
_FIELD = re.compile(r"^([!-9;-~]+)[ \t]*:(.*(?:\r?\n[ \t].*)*)", re.MULTILINE)
# Exceptions of the standard library's parameter parsers on hostile input.
_FAULTS = (LookupError, MessageError, TypeError, ValueError)
_MESSAGES = frozenset({"message/rfc822", "message/global", "message/news"})
"""Types of parts that contain a message.

Other `message/` types, such as feedback reports, have fields.
"""


@dataclass(frozen=True, slots=True)
class MimeLimits:
    """Limits for parsing a message; what exceeds them is left out."""

    message_bytes: int = 32 * 1024 * 1024
    header_bytes: int = 256 * 1024
    """Bytes of the header of the message, and of each part."""
    headers: int = 1_000
    """Fields of one header."""
    field_bytes: int = 4_096
    """Characters of a Content-Type or Content-Disposition; longer ones are read as absent."""
    field_parameters: int = 50
    """Parameters of these; with more they are read as absent, as parsing is quadratic."""
    parts: int = 200
    """Parts of the message, including itself."""
    depth: int = 20
    """Levels of nested parts."""
    boundary_lines: int = 2_000
    text_bytes: int = 4 * 1024 * 1024
    """Bytes of a part that are read as text."""
    opens_messages: bool = False
    """Whether an attached message is parsed as a part with its own parts."""


HeaderField = tuple[str, str]
"""Name of a header field, and its unfolded value."""
# Parts are spans of the message: nested slices would copy it once per level.
_Span = tuple[int, int]


class Part(NamedTuple):
    """The message, or one part of it."""

    fields: tuple[HeaderField, ...]
    content: Message
    """The content fields only, for the standard library's parameter parsers."""
    is_multipart: bool
    children: tuple["Part", ...]
    raw: bytes
    span: _Span
    """Start and end of the body in `raw`."""

    @property
    def body(self) -> bytes:
        """Return the body without decoding."""
        return self.raw[slice(*self.span)]

    @property
    def encoding(self) -> str:
        """Return the transfer encoding in lower case, or an empty text."""
        return str(self.content.get("Content-Transfer-Encoding", "")).strip().lower()

    def parameter(self, name: str) -> str:
        """Return a parameter of the Content-Type, or an empty text."""
        return _parameter(self.content, name)

    def filename(self) -> str:
        """Return the file name, not decoded, or an empty text."""
        try:
            return str(self.content.get_filename(""))
        except _FAULTS:
            return ""

    def walk(self) -> Iterator["Part"]:
        """Yield this part and all parts below it in order."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True, slots=True)
class ReadMessage:
    """A parsed message; `is_complete` is false if a limit left something out."""

    root: Part
    is_complete: bool


def read_message(raw: bytes, limits: MimeLimits) -> ReadMessage:
    """Parse a message; never raises."""
    reader = _Reader(limits, is_complete=len(raw) <= limits.message_bytes)
    raw = raw[: limits.message_bytes]
    root = reader.part(raw, (0, len(raw)), depth=0)
    return ReadMessage(root, reader.is_complete)


def fields_of(text: str) -> Iterator[HeaderField]:
    """Yield the fields of a header; other lines are left out."""
    for found in _FIELD.finditer(text):
        yield found[1], found[2]


def unfolded(value: str) -> str:
    """Return the value of a field on one line (RFC 5322 section 2.2.3)."""
    return value.replace("\r", "").replace("\n", "").strip(" \t")


def transfer_decoded(body: bytes, encoding: str) -> bytes:
    """Return a decoded body; with an unknown encoding, unchanged."""
    match encoding:
        case "base64":
            return base64_to_octets(body)
        case "quoted-printable":
            return binascii.a2b_qp(body)
        case _:
            return body


def unified(octets: bytes) -> bytes:
    """Return the bytes with LF line ends."""
    if b"\r" not in octets:
        return octets
    return octets.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


@dataclass(slots=True)
class _Reader:
    limits: MimeLimits
    is_complete: bool
    parts: int = 0
    boundary_lines: int = 0

    def part(self, raw: bytes, span: _Span, *, depth: int) -> Part:
        self.parts += 1
        fields, body = self._header(raw, span)
        content = self._content_fields(fields)
        content_type = content.get_content_type()
        if content_type.startswith("multipart/"):
            boundary = _parameter(content, "boundary").rstrip().encode("utf-8", "replace")
            if boundary:
                children = self._children(raw, body, b"--" + boundary, depth)
                return Part(fields, content, True, children, raw, body)
        part = Part(fields, content, False, (), raw, body)
        if self.limits.opens_messages and content_type in _MESSAGES:
            return part._replace(children=self._carried(part, depth))
        return part

    def _children(self, raw: bytes, body: _Span, delimiter: bytes, depth: int) -> tuple[Part, ...]:
        if depth == self.limits.depth:
            self.is_complete = False
            return ()
        children: list[Part] = []
        for span in self._split(raw, body, delimiter):
            if self.parts >= self.limits.parts:
                self.is_complete = False
                break
            children.append(self.part(raw, span, depth=depth + 1))
        return tuple(children)

    def _carried(self, part: Part, depth: int) -> tuple[Part, ...]:
        if depth >= self.limits.depth or self.parts >= self.limits.parts:
            self.is_complete = False
            return ()
        raw, (start, end) = part.raw, part.span
        # RFC 2046 forbids encoding it, RFC 6532 allows it, and it occurs.
        if part.encoding in ("base64", "quoted-printable"):
            raw = unified(transfer_decoded(part.body, part.encoding))
            start, end = 0, len(raw)
        while start < end and raw[start] in b"\r\n":
            start += 1
        return (self.part(raw, (start, end), depth=depth + 1),)

    def _header(self, raw: bytes, span: _Span) -> tuple[tuple[HeaderField, ...], _Span]:
        """Return the fields, and the span of the body."""
        start, end = span
        limit = min(end, start + self.limits.header_bytes)
        empty = _EMPTY_LINE.search(raw, start, limit)
        if empty is None and limit < end:
            self.is_complete = False
        fields: list[HeaderField] = []
        text = raw[start : empty.start() if empty else limit].decode("utf-8", "replace")
        for found in _FIELD.finditer(text):
            if len(fields) == self.limits.headers:
                self.is_complete = False
                break
            fields.append((found[1], found[2]))
        return tuple(fields), (empty.end() if empty else end, end)

    def _content_fields(self, fields: tuple[HeaderField, ...]) -> Message:
        content = Message()
        for name, folded in fields:
            if name[:8].lower() != "content-" or name in content:
                continue
            value = unfolded(folded)
            is_short = len(value) <= self.limits.field_bytes
            if is_short and value.count(";") <= self.limits.field_parameters:
                content[name] = value
        return content

    def _split(self, raw: bytes, body: _Span, delimiter: bytes) -> Iterator[_Span]:
        """Yield the parts between boundary lines; an unterminated part reaches to the end."""
        part_start: int | None = None
        for line_start, line_end in self._delimiter_lines(raw, body, delimiter):
            rest = raw[line_start + len(delimiter) : line_end].strip(b" \t\r\n")
            if rest not in (b"", b"--"):
                continue  # a longer boundary with this one as prefix
            if part_start is not None:
                yield part_start, max(part_start, _before_line_end(raw, line_start))
            if rest:
                return
            part_start = line_end
        if part_start is not None:
            yield part_start, body[1]

    def _delimiter_lines(self, raw: bytes, body: _Span, delimiter: bytes) -> Iterator[_Span]:
        start, end = body
        at = start if raw.startswith(delimiter, start, end) else _next(raw, delimiter, body)
        while at >= 0:
            self.boundary_lines += 1
            if self.boundary_lines > self.limits.boundary_lines:
                self.is_complete = False
                return
            newline = raw.find(b"\n", at, end)
            line_end = newline + 1 if newline >= 0 else end
            yield at, line_end
            at = _next(raw, delimiter, (line_end - 1, end))


def _parameter(content: Message, name: str) -> str:
    try:
        value = content.get_param(name, "")
    except _FAULTS:
        return ""
    # A value in RFC 2231 format is returned as charset, language and text.
    return value[2] if isinstance(value, tuple) else str(value)


def _next(raw: bytes, delimiter: bytes, within: _Span) -> int:
    """Return the start of the next line that begins with the delimiter, or -1."""
    found = raw.find(b"\n" + delimiter, *within)
    return found if found < 0 else found + 1


def _before_line_end(raw: bytes, at: int) -> int:
    """Return where the line before `at` ends.

    Its line end belongs to the boundary (RFC 2046 5.1.1).
    """
    at -= 1
    return at - 1 if raw[at - 1 : at] == b"\r" else at
