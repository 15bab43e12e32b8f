"""Decides what the parts of a foreign message are: bounded in size, depth and time. Pure.

Never raises. Line ends of all three kinds are read as one, for bounces have been through mills.
"""

import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass
from email.errors import MessageError
from email.message import Message

from mailqueue.mime.decode import base64_to_octets, octets_to_text, words_to_text

_HEADER = re.compile(r"^([!-9;-~]+)[ \t]*:(.*(?:\n[ \t].*)*)", re.MULTILINE)
_FAULTS = (LookupError, MessageError, TypeError, ValueError)
_CARRIED = frozenset({"message/rfc822", "message/global", "message/news"})
"""Parts that are messages; others of their kind, such as a feedback report, are fields."""


@dataclass(frozen=True, slots=True)
class MimeLimits:
    """How much of a message is read; what lies beyond is not."""

    octets: int = 2 * 1024 * 1024
    header_octets: int = 128 * 1024
    headers: int = 500
    field_octets: int = 8_192
    field_parameters: int = 50
    """Of a Content-Type; their reader takes the square of the number."""
    parts: int = 100
    depth: int = 8
    text_octets: int = 64 * 1024


DEFAULT_LIMITS = MimeLimits()


@dataclass(frozen=True, slots=True)
class BouncePart:
    """One part with its header fields, unfolded and in their order; `octets` as transferred."""

    content_type: str
    fields: tuple[tuple[str, str], ...]
    octets: bytes
    children: tuple["BouncePart", ...] = ()
    report_type: str = ""
    charset: str = ""
    text_octets: int = DEFAULT_LIMITS.text_octets

    def values(self, name: str) -> list[str]:
        """Return all fields of that name."""
        wanted = name.lower()
        return [value for key, value in self.fields if key.lower() == wanted]

    def header(self, name: str) -> str:
        """Return the first field of that name with its encoded words read, or an empty text."""
        found = self.values(name)
        return words_to_text(found[0]) if found else ""

    def text(self) -> str:
        """Return what it says, line ends as LF; cut where it is too long."""
        encoding = (self.values("Content-Transfer-Encoding") or [""])[0].strip().lower()
        octets = self.octets[: 2 * self.text_octets]
        if encoding == "base64":
            octets = base64_to_octets(octets)
        elif encoding == "quoted-printable":
            octets = binascii.a2b_qp(octets)
        text = octets_to_text(octets[: self.text_octets], self.charset or "utf-8")
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def walk(self) -> Iterator["BouncePart"]:
        """Yield this part and all below it, in the order they stand."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True, slots=True)
class BounceTree:
    """A message; `is_complete` is false where a limit cut something off."""

    root: BouncePart
    is_complete: bool


@dataclass(slots=True)
class _Reader:
    limits: MimeLimits
    parts: int = 0
    is_complete: bool = True

    def part(self, octets: bytes, depth: int) -> BouncePart:
        self.parts += 1
        fields, body = self._head(octets)
        head = _content_fields(fields, self.limits)
        content_type = head.get_content_type()
        children: tuple[BouncePart, ...] = ()
        boundary = _parameter(head, "boundary").rstrip()
        if content_type.startswith("multipart/") and boundary:
            if self._may_go(depth):
                children = self._pieces(body, boundary.encode("utf-8", "replace"), depth)
        elif content_type in _CARRIED and self._may_go(depth):
            children = (self.part(self._carried(body, fields), depth + 1),)
        return BouncePart(
            content_type,
            fields,
            body,
            children,
            _parameter(head, "report-type").lower(),
            _parameter(head, "charset"),
            self.limits.text_octets,
        )

    def _may_go(self, depth: int) -> bool:
        may = depth < self.limits.depth and self.parts < self.limits.parts
        self.is_complete = self.is_complete and may
        return may

    def _carried(self, body: bytes, fields: tuple[tuple[str, str], ...]) -> bytes:
        # RFC 2046 forbids to encode it, RFC 6532 does not, and some do anyway.
        encodings = [value for name, value in fields if name.lower() == "content-transfer-encoding"]
        match encodings[0].strip().lower() if encodings else "":
            case "base64":
                return unified(base64_to_octets(body))
            case "quoted-printable":
                return unified(binascii.a2b_qp(body))
            case _:
                return body.lstrip(b"\n")

    def _pieces(self, body: bytes, boundary: bytes, depth: int) -> tuple[BouncePart, ...]:
        found: list[BouncePart] = []
        delimiter = b"--" + boundary
        at = 0 if body.startswith(delimiter) else _next(body, delimiter, 0)
        while at >= 0:
            line_end = body.find(b"\n", at)
            rest = body[at + len(delimiter) : line_end if line_end >= 0 else None]
            if rest[:2] == b"--" or line_end < 0:
                break
            after = _next(body, delimiter, line_end)
            if rest.strip(b" \t"):  # another boundary that begins like this one
                at = after
                continue
            if self.parts >= self.limits.parts:
                self.is_complete = False
                break
            found.append(
                self.part(body[line_end + 1 : after - 1 if after >= 0 else None], depth + 1)
            )
            at = after
        return tuple(found)

    def _head(self, octets: bytes) -> tuple[tuple[tuple[str, str], ...], bytes]:
        if octets.startswith(b"\n"):
            return (), octets[1:]
        end = octets.find(b"\n\n", 0, self.limits.header_octets)
        if end < 0 and len(octets) > self.limits.header_octets:
            self.is_complete = False
        head = octets[: end + 1 if end >= 0 else self.limits.header_octets]
        found = read_fields(head.decode("utf-8", "replace"), self.limits)
        if len(found) == self.limits.headers:
            self.is_complete = False
        return found, octets[end + 2 :] if end >= 0 else b""


def read_tree(raw: bytes, limits: MimeLimits = DEFAULT_LIMITS) -> BounceTree:
    """Read a message, whatever it holds."""
    octets = unified(raw[: limits.octets]).lstrip(b"\n")
    if octets.startswith((b"From ", b">From ")):  # as mailboxes mark the beginning
        octets = octets.partition(b"\n")[2]
    reader = _Reader(limits, is_complete=len(raw) <= limits.octets)
    root = reader.part(octets, 0)
    return BounceTree(root, reader.is_complete)


def read_fields(text: str, limits: MimeLimits = DEFAULT_LIMITS) -> tuple[tuple[str, str], ...]:
    """Return the fields of a block such as a header, unfolded; lines that are none are left out."""
    fields: list[tuple[str, str]] = []
    for found in _HEADER.finditer(text):
        if len(fields) == limits.headers:
            break
        value = found[2][: limits.field_octets]
        fields.append((found[1], " ".join(line.strip() for line in value.split("\n")).strip()))
    return tuple(fields)


def unified(octets: bytes) -> bytes:
    """Return it with LF alone at the ends of lines."""
    if b"\r" not in octets:
        return octets
    return octets.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _next(body: bytes, delimiter: bytes, start: int) -> int:
    found = body.find(b"\n" + delimiter, start)
    return found if found < 0 else found + 1


def _content_fields(fields: tuple[tuple[str, str], ...], limits: MimeLimits) -> Message:
    """Return a message of the content fields alone, for its readers of parameters."""
    head = Message()
    for name, value in fields:
        is_content = name.lower() == "content-type"
        is_read = len(value) < limits.field_octets
        is_read = is_read and value.count(";") <= limits.field_parameters
        if is_content and is_read and name not in head:
            head[name] = value
    return head


def _parameter(head: Message, name: str) -> str:
    try:
        value = head.get_param(name, "")
    except _FAULTS:
        return ""
    return value[2] if isinstance(value, tuple) else str(value)
