"""The record of what a mail server or provider and this program said about one email. Pure.

It never holds the message or a credential, and its size is bounded.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from mailqueue.core.json.reading import read_json
from mailqueue.core.json.writing import write_json

MAX_BYTES = 8 * 1024
"""Bytes of one record as JSON."""
MAX_LINE_CHARACTERS = 500
"""Characters of one line; what is longer is cut."""
MAX_BODY_BYTES = 1024
"""Bytes of an HTTP reply's body that are kept."""
HEAD_BYTES = 3 * 1024
"""Bytes of the first lines that are kept where lines in the middle are left out."""
_FRAME_BYTES = 256
"""Bytes set aside for the names of the record's fields and the line that says what was left out."""

_CUT = " … (cut)"

UNSEEN = re.compile("[^\x20-\x7e\xa0-\U0010ffff]|[\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that are not shown: control characters, changes of direction, lone surrogates."""


class SaidBy(StrEnum):
    """Who said a line."""

    CLIENT = "client"  # this program
    SERVER = "server"
    NOTE = "note"  # nobody: what happened to the connection


class SaidLine(NamedTuple):
    """One line; `ms` counts from the start of the connection, over HTTP from the first request."""

    ms: int
    by: SaidBy
    text: str


@dataclass(frozen=True, slots=True)
class ConversationRecord:
    """What was said about one email. `body` is the beginning of an HTTP reply's body.

    Of all parts only the body may repeat what the email says.
    """

    protocol: str  # smtp, http
    lines: Sequence[SaidLine]
    body: str | None = None


def document_of(record: ConversationRecord) -> str:
    """Return a record as JSON of at most MAX_BYTES.

    Where it is larger, lines in the middle are left out and a line in their place says how many.
    """
    body = _cut(_shown_text(record.body), MAX_BODY_BYTES) if record.body is not None else None
    room = MAX_BYTES - _FRAME_BYTES - (len(write_json(body)) if body is not None else 0)
    lines = [line._replace(text=shown_line(line.text)) for line in record.lines]
    document = {
        "protocol": record.protocol,
        "lines": [line._asdict() for line in bounded(lines, max_bytes=room)],
        **({"body": body} if body is not None else {}),
    }
    return write_json(document).decode()


def without_secrets(document: str, secrets: Sequence[str]) -> str:
    """Return a record as JSON with `***` in place of each of these texts."""
    record, longest_first = read_json(document), sorted(secrets, key=len, reverse=True)
    for line in record["lines"]:
        line["text"] = without(line["text"], longest_first)
    if "body" in record:
        record["body"] = without(record["body"], longest_first)
    return write_json(record).decode()


def bounded(lines: Sequence[SaidLine], *, max_bytes: int) -> list[SaidLine]:
    """Return the lines, or the first and the last of them, of at most `max_bytes` as JSON."""
    sizes = [_size(line) for line in lines]
    left = max_bytes - sum(sizes)
    if left >= 0:
        return list(lines)
    head, spent = 0, 0
    while head < len(lines) and spent + sizes[head] <= min(HEAD_BYTES, max_bytes):
        spent += sizes[head]
        head += 1
    tail = len(lines)
    while tail > head and spent + sizes[tail - 1] <= max_bytes:
        tail -= 1
        spent += sizes[tail]
    left_out = tail - head
    at = lines[head].ms
    said = f"({left_out} line{'s are' if left_out > 1 else ' is'} left out)"
    return [*lines[:head], SaidLine(at, SaidBy.NOTE, said), *lines[tail:]]


def shown_line(text: str) -> str:
    """Return one printable line of at most MAX_LINE_CHARACTERS; one that is cut ends in (cut)."""
    text = UNSEEN.sub("\ufffd", text.replace("\t", " "))
    if len(text) <= MAX_LINE_CHARACTERS:
        return text
    return text[: MAX_LINE_CHARACTERS - len(_CUT)] + _CUT


def without(text: str, secrets: Iterable[str]) -> str:
    """Return a text with `***` in place of each of these texts."""
    for secret in secrets:
        text = text.replace(secret, "***")
    return text


def _shown_text(text: str) -> str:
    return "\n".join(UNSEEN.sub("\ufffd", line.replace("\t", " ")) for line in text.splitlines())


def _cut(text: str, most: int) -> str:
    return text.encode()[:most].decode(errors="ignore")


def _size(line: SaidLine) -> int:
    return len(write_json(line._asdict())) + 1
