"""Parses the header of a complete message; fields are kept as bytes, unchanged. Pure.

`mailqueue.mime.reader` is for display and reports: it accepts anything, decodes it, and leaves out
lines that are not fields. A message that is sent on must be refused if it is not valid, and its
fields are sent unchanged.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from mailqueue.core.address import InvalidAddress, Mailbox, Reason, parse_mailbox
from mailqueue.core.messages.lines import LineFault, bad_end, has_longer_line
from mailqueue.mime.decode import words_to_text

MAX_LINE_BYTES = 998  # RFC 5322 2.1.1
MAX_HEAD_BYTES = 256 * 1024
MAX_FIELDS = 1_000
_LAST_LINE_BYTES = MAX_LINE_BYTES + 2
DEAR_HEAD_BYTES = 16 * 1024
DEAR_DELIMITERS = 50

_FIELD = re.compile(rb"([!-9;-~]{1,200})[ \t]*:((?:[^\r\n]*)(?:\r\n[ \t][^\r\n]*)*)\r\n")
# Anchored at word boundaries: a search that restarted inside a word would be quadratic.
_ADDRESS = re.compile(r"(?<![^\s<>,;:()\"])[^\s<>,;:()\"]+@[^\s<>,;:()\"]+")


class RawField(NamedTuple):
    """One field: its name, the value after the colon, and the whole field with its line end."""

    name: str
    value: bytes
    octets: bytes

    @property
    def text(self) -> str:
        """Return the value unfolded, with encoded words unchanged."""
        return self.value.replace(b"\r\n", b"").decode("utf-8", "replace").strip(" \t")

    @property
    def decoded(self) -> str:
        """Return the value unfolded and decoded."""
        return words_to_text(self.text)


class RawHead(NamedTuple):
    """The fields of a message in order, and the index of the empty line before its body."""

    fields: tuple[RawField, ...]
    end: int

    def named(self, name: str) -> list[RawField]:
        """Return the fields with that name, which is in lower case."""
        return [field for field in self.fields if field.name.lower() == name]


class NotAMessage(ValueError):
    """Bytes that are not a message (RFC 5322); the text says what is wrong."""


def check_octets(raw: bytes) -> None:
    """Refuse a message with a NUL, a bare CR or LF, or lines that are too long.

    Raises:
        NotAMessage: it has one; the text names it.
    """
    match bad_end(raw):
        case LineFault.NUL:
            raise NotAMessage("the message contains a NUL")
        case LineFault.BARE_END:
            raise NotAMessage("the message contains a bare CR or LF: lines must end with CR LF")
    if has_longer_line(raw, MAX_LINE_BYTES):
        raise NotAMessage(f"a line of the message has more than {MAX_LINE_BYTES} bytes")


def read_head(raw: bytes) -> RawHead:
    """Parse the fields of a message whose lines end in CRLF.

    Raises:
        NotAMessage: a line is not a field, or the header is too large.
    """
    fields: list[RawField] = []
    at = 0
    # A field beyond the limit is read to a line that is beyond it, however long it is.
    limit = MAX_HEAD_BYTES + _LAST_LINE_BYTES
    while not raw.startswith(b"\r\n", at) and at < len(raw):
        found = _FIELD.match(raw, at, limit)
        if found is None:
            line = raw[at : at + 80].partition(b"\r\n")[0].decode("utf-8", "replace")
            raise NotAMessage(f"a line of the header is not a field: {line!r}")
        fields.append(RawField(found[1].decode(), found[2], found[0]))
        at = found.end()
        if len(fields) > MAX_FIELDS or at > MAX_HEAD_BYTES:
            raise NotAMessage(
                f"the header has more than {MAX_FIELDS} fields or {MAX_HEAD_BYTES} bytes"
            )
    return RawHead(tuple(fields), at)


def is_dear(raw: bytes) -> bool:
    """Return whether reading a message of some kB takes long for its size: a large header, or many
    parts.
    """
    is_in_head = len(raw) > DEAR_HEAD_BYTES and raw.find(b"\r\n\r\n", 0, DEAR_HEAD_BYTES) < 0
    return is_in_head or raw.count(b"\r\n--") > DEAR_DELIMITERS


def first_field(raw: bytes, name: str) -> str:
    """Return the text of the first field with that name in lower case, or an empty text."""
    found = re.search(
        rb"(?:\A|\n)" + re.escape(name.encode()) + rb"[ \t]*:([^\r\n]*(?:\r\n[ \t][^\r\n]*)*)",
        raw.partition(b"\r\n\r\n")[0],
        re.IGNORECASE,
    )
    return (
        "" if found is None else found[1].replace(b"\r\n", b"").decode("utf-8", "replace").strip()
    )


def has_ascii_head(raw: bytes) -> bool:
    """Return whether the header is ASCII, so that servers without SMTPUTF8 accept it."""
    return raw.isascii() or raw.partition(b"\r\n\r\n")[0].isascii()


def read_author(field: RawField) -> Mailbox:
    """Return the only mailbox of From, without comments, with encoded words decoded.

    Raises:
        InvalidAddress: there is none, or more than one.
    """
    found = parse_mailbox(_without_comments(field.text))
    return Mailbox(words_to_text(found.name), found.address)


def addresses_in(fields: Iterable[RawField]) -> frozenset[str]:
    """Return all texts that look like addresses in these fields, in lower case.

    Used to tell the recipients of To and Cc from those of Bcc.
    """
    text = " ".join(field.text for field in fields).lower()
    return frozenset(_ADDRESS.findall(text))


def _without_comments(text: str) -> str:
    """Return the text without comments (RFC 5322 3.2.2), nested ones included; quotes are kept."""
    kept: list[str] = []
    depth, is_quoted, is_escaped = 0, False, False
    for character in text:
        if is_escaped:
            is_escaped = False
        elif character == "\\" and (is_quoted or depth):
            is_escaped = True
        elif character == '"' and not depth:
            is_quoted = not is_quoted
        elif character == "(" and not is_quoted:
            depth += 1
            continue
        elif character == ")" and not is_quoted:
            depth -= 1
            if depth < 0:
                raise InvalidAddress(Reason.BAD_NAME, text)
            if depth == 0:
                kept.append(" ")
            continue
        if not depth:
            kept.append(character)
    if depth or is_quoted:
        raise InvalidAddress(Reason.BAD_NAME, text)
    return "".join(kept)
