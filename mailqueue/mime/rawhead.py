"""The header of a finished message: fields as bytes, none altered. Pure.

Not read by `mailqueue.mime.reader`: that reads whatever comes, decoded, and leaves out what is no
field, for showing and for reports. A message that is sent on has to be refused where it is not
valid, and its fields are sent byte by byte as they came.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from mailqueue.core.address import InvalidAddress, Mailbox, Reason, parse_mailbox
from mailqueue.mime.decode import words_to_text

LINE_OCTETS = 998  # RFC 5322 2.1.1
HEAD_OCTETS = 256 * 1024
MAX_FIELDS = 1_000

_FIELD = re.compile(rb"([!-9;-~]{1,200})[ \t]*:((?:[^\r\n]*)(?:\r\n[ \t][^\r\n]*)*)\r\n")
# Begins where a word does: a search that began anew within one would read it again each time.
_ADDRESS = re.compile(r"(?<![^\s<>,;:()\"])[^\s<>,;:()\"]+@[^\s<>,;:()\"]+")
_ALL_BUT_ENDS = bytes(octet for octet in range(256) if octet not in b"\r\n\0")


class RawField(NamedTuple):
    """One field: its name, what stands behind the colon, and all of it with its line end."""

    name: str
    value: bytes
    octets: bytes

    @property
    def text(self) -> str:
        """Return the value unfolded, encoded words left as they are."""
        return self.value.replace(b"\r\n", b"").decode("utf-8", "replace").strip(" \t")

    @property
    def said(self) -> str:
        """Return the value as a person reads it."""
        return words_to_text(self.text)


class RawHead(NamedTuple):
    """The fields of a message in order, and where its body begins, the empty line before it."""

    fields: tuple[RawField, ...]
    end: int

    def named(self, name: str) -> list[RawField]:
        """Return the fields of that name, which is in lower case."""
        return [field for field in self.fields if field.name.lower() == name]


class NotAMessage(ValueError):
    """Octets that are no message as RFC 5322 has it; the text says what is wrong."""


def check_octets(raw: bytes) -> None:
    """Refuse what may not go over the wire: NUL, a CR or LF alone, lines that are too long.

    Raises:
        NotAMessage: naming it.
    """
    ends = raw.translate(None, _ALL_BUT_ENDS)
    if b"\0" in ends:
        raise NotAMessage("the message has a NUL")
    if ends != b"\r\n" * (len(ends) // 2) or raw.count(b"\r\n") * 2 != len(ends):
        raise NotAMessage("the message has a CR or LF alone: every line ends in CR LF")
    if max(map(len, raw.split(b"\r\n"))) > LINE_OCTETS:
        raise NotAMessage(f"a line of the message has more than {LINE_OCTETS} octets")


def read_head(raw: bytes) -> RawHead:
    """Read the fields of a message whose lines end in CRLF.

    Raises:
        NotAMessage: a line is no field, or there is too much of it.
    """
    fields: list[RawField] = []
    at = 0
    while not raw.startswith(b"\r\n", at) and at < len(raw):
        found = _FIELD.match(raw, at)
        if found is None:
            line = raw[at : at + 80].partition(b"\r\n")[0].decode("utf-8", "replace")
            raise NotAMessage(f"a line of the header is no field: {line!r}")
        fields.append(RawField(found[1].decode(), found[2], found[0]))
        at = found.end()
        if len(fields) > MAX_FIELDS or at > HEAD_OCTETS:
            raise NotAMessage(
                f"the header has more than {MAX_FIELDS} fields or {HEAD_OCTETS} octets"
            )
    return RawHead(tuple(fields), at)


def first_field(raw: bytes, name: str) -> str:
    """Return the text of the first field of that name in lower case, or an empty one."""
    found = re.search(
        rb"(?:\A|\n)" + re.escape(name.encode()) + rb"[ \t]*:([^\r\n]*(?:\r\n[ \t][^\r\n]*)*)",
        raw.partition(b"\r\n\r\n")[0],
        re.IGNORECASE,
    )
    return (
        "" if found is None else found[1].replace(b"\r\n", b"").decode("utf-8", "replace").strip()
    )


def has_ascii_head(raw: bytes) -> bool:
    """Return whether the header goes to servers without SMTPUTF8; the body has no part in that."""
    return raw.isascii() or raw.partition(b"\r\n\r\n")[0].isascii()


def read_author(field: RawField) -> Mailbox:
    """Read the only mailbox of From; comments and folds do not count, encoded words are read.

    Raises:
        InvalidAddress: there is none, or more than one.
    """
    found = parse_mailbox(_without_comments(field.text))
    return Mailbox(words_to_text(found.name), found.address)


def addresses_in(fields: Iterable[RawField]) -> frozenset[str]:
    """Return what looks like an address in these fields, in lower case. For telling To from Bcc."""
    text = " ".join(field.text for field in fields).lower()
    return frozenset(_ADDRESS.findall(text))


def _without_comments(text: str) -> str:
    """Take out comments (RFC 5322 3.2.2), which may be nested; not those in quotes."""
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
