"""Decides what of a foreign message is shown: bounded in time and depth, never raises. Pure."""

import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.errors import MessageError
from email.message import Message

from mailqueue.mime.decode import base64_to_octets, octets_to_text, words_to_text

_EMPTY_LINE = re.compile(rb"^\r?\n", re.MULTILINE)
_HEADER = re.compile(r"^([!-9;-~]+)[ \t]*:(.*(?:\r?\n[ \t].*)*)", re.MULTILINE)
# What the standard library's readers of parameters raise on hostile input.
_FAULTS = (LookupError, MessageError, TypeError, ValueError)
_HEAD_OCTETS = 1024
_SEPARATOR = re.compile(r"[/\\]")


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a message is looked at; what lies beyond is not shown."""

    message_octets: int = 32 * 1024 * 1024
    header_octets: int = 256 * 1024
    headers: int = 1_000
    field_octets: int = 4_096
    """Of a Content-Type or Content-Disposition; a longer one is read as absent."""
    field_parameters: int = 50
    """Of these; one with more is read as absent: their reader takes the square of the number."""
    parts: int = 200
    depth: int = 20
    boundary_lines: int = 2_000
    text_octets: int = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Attachment:
    """A part that is not shown as text. The name is for showing only, never for a path."""

    filename: str
    content_type: str
    size_bytes: int
    head: bytes = field(default=b"", compare=False, repr=False)  # by which it is told what it is
    is_named: bool = field(default=False, compare=False)  # it says that it is a file


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """A message as a person may look at it; headers decoded, in their order."""

    headers: tuple[tuple[str, str], ...]
    html: str | None
    text: str | None
    attachments: tuple[Attachment, ...]
    is_complete: bool
    """False when a limit cut something off."""

    def header(self, name: str) -> str:
        """Return the first header of that name, decoded, or an empty text."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), "")

    @property
    def subject(self) -> str:
        """Return the decoded subject."""
        return self.header("Subject")

    @property
    def sender(self) -> str:
        """Return the decoded From header."""
        return self.header("From")

    @property
    def to(self) -> str:
        """Return the decoded To header."""
        return self.header("To")


@dataclass(slots=True)
class _Walk:
    """The message, what was found in it so far, and what the limits leave."""

    raw: bytes
    limits: Limits
    html: str | None = None
    text: str | None = None
    attachments: list[Attachment] = field(default_factory=list)
    parts: int = 0
    boundary_lines: int = 0
    is_complete: bool = True


# Parts are spans of the message: slices of slices would copy it once a level.
_Span = tuple[int, int]
_Headers = list[tuple[str, str]]


def parse_message(raw: bytes, limits: Limits | None = None) -> ShownMessage:
    """Read a message for showing, whatever it holds.

    The standard library's parser is kept to single fields: its cost and its stack grow with the
    nesting a sender chooses.
    """
    limits = limits or Limits()
    walk = _Walk(raw[: limits.message_octets], limits)
    walk.is_complete = len(walk.raw) == len(raw)
    headers, body = _read_head((0, len(walk.raw)), walk)
    _visit(headers, body, depth=0, walk=walk)
    return ShownMessage(
        headers=tuple((name, words_to_text(value)) for name, value in headers),
        html=walk.html,
        text=walk.text,
        attachments=tuple(walk.attachments),
        is_complete=walk.is_complete,
    )


def _read_head(part: _Span, walk: _Walk) -> tuple[_Headers, _Span]:
    """Return the headers, unfolded, and the span of the body; lines that are none are
    passed over.
    """
    start, end = part
    head_end = min(end, start + walk.limits.header_octets)
    empty = _EMPTY_LINE.search(walk.raw, start, head_end)
    if empty is None and head_end < end:
        walk.is_complete = False
    head = walk.raw[start : empty.start() if empty else head_end].decode("utf-8", "replace")
    headers: _Headers = []
    for found in _HEADER.finditer(head):
        if len(headers) == walk.limits.headers:
            walk.is_complete = False
            break
        headers.append((found[1], found[2].replace("\r", "").replace("\n", "").strip(" \t")))
    return headers, (empty.end() if empty else end, end)


def _visit(headers: _Headers, body: _Span, *, depth: int, walk: _Walk) -> None:
    walk.parts += 1
    head = _content_fields(headers, walk.limits)
    boundary = _parameter(head, "boundary").encode("utf-8", "replace")
    if head.get_content_maintype() != "multipart" or not boundary:
        _take_leaf(head, walk.raw[slice(*body)], walk)
        return
    if depth == walk.limits.depth:
        walk.is_complete = False
        return
    for part in _split_parts(body, b"--" + boundary, walk):
        if walk.parts >= walk.limits.parts:
            walk.is_complete = False
            return
        part_headers, part_body = _read_head(part, walk)
        _visit(part_headers, part_body, depth=depth + 1, walk=walk)


def _split_parts(body: _Span, delimiter: bytes, walk: _Walk) -> Iterator[_Span]:
    """Yield the parts between the boundary lines; an unclosed one reaches to the end."""
    part_start: int | None = None
    for line_start, line_end in _delimiter_lines(body, delimiter, walk):
        rest = walk.raw[line_start + len(delimiter) : line_end].strip(b" \t\r\n")
        if rest not in (b"", b"--"):
            continue  # a longer boundary that begins like this one
        if part_start is not None:
            yield part_start, max(part_start, _before_line_end(walk.raw, line_start))
        if rest:
            return
        part_start = line_end
    if part_start is not None:
        yield part_start, body[1]


def _delimiter_lines(body: _Span, delimiter: bytes, walk: _Walk) -> Iterator[_Span]:
    raw, (start, end) = walk.raw, body
    at = start if raw.startswith(delimiter, start, end) else _next_line(raw, delimiter, body)
    while at >= 0:
        walk.boundary_lines += 1
        if walk.boundary_lines > walk.limits.boundary_lines:
            walk.is_complete = False
            return
        newline = raw.find(b"\n", at, end)
        line_end = newline + 1 if newline >= 0 else end
        yield at, line_end
        at = _next_line(raw, delimiter, (line_end - 1, end))


def _next_line(raw: bytes, delimiter: bytes, within: _Span) -> int:
    found = raw.find(b"\n" + delimiter, *within)
    return found if found < 0 else found + 1


def _before_line_end(raw: bytes, at: int) -> int:
    """Return where the line before `at` ends: its line end is the boundary's (RFC 2046 5.1.1)."""
    at -= 1
    return at - 1 if raw[at - 1 : at] == b"\r" else at


def _content_fields(headers: _Headers, limits: Limits) -> Message:
    """Return a message of the content fields alone, for its readers of parameters."""
    head = Message()
    for name, value in headers:
        is_content = name.lower().startswith("content-")
        is_read = len(value) <= limits.field_octets
        is_read = is_read and value.count(";") <= limits.field_parameters
        if is_content and is_read and name not in head:
            head[name] = value
    return head


def _take_leaf(head: Message, body: bytes, walk: _Walk) -> None:
    content_type = head.get_content_type()
    filename = _filename(head)
    octets = _decoded(body, str(head.get("Content-Transfer-Encoding", "")))
    is_attached = bool(filename) or head.get_content_disposition() == "attachment"
    if not is_attached and content_type == "text/html" and walk.html is None:
        walk.html = _text(octets, head, walk)
    elif not is_attached and content_type == "text/plain" and walk.text is None:
        walk.text = _text(octets, head, walk)
    else:
        walk.attachments.append(
            Attachment(filename, content_type, len(octets), octets[:_HEAD_OCTETS], is_attached)
        )


def _text(octets: bytes, head: Message, walk: _Walk) -> str:
    if len(octets) > walk.limits.text_octets:
        walk.is_complete = False
    charset = _parameter(head, "charset") or "utf-8"
    return octets_to_text(octets[: walk.limits.text_octets], charset)


def _decoded(body: bytes, encoding: str) -> bytes:
    match encoding.strip().lower():
        case "base64":
            return base64_to_octets(body)
        case "quoted-printable":
            return binascii.a2b_qp(body)
        case _:
            return body


def _parameter(head: Message, name: str) -> str:
    """Return a parameter of the Content-Type, or an empty text."""
    try:
        value = head.get_param(name, "")
    except _FAULTS:
        return ""
    # One written the RFC 2231 way comes as charset, language and text.
    return value[2] if isinstance(value, tuple) else str(value)


def _filename(head: Message) -> str:
    try:
        name = head.get_filename("")
    except _FAULTS:
        name = ""
    return _SEPARATOR.sub("_", words_to_text(name))[:200]
