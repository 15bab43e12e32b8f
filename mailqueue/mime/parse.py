"""Parses untrusted messages for display: headers, texts and attachments. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice
from typing import NamedTuple

from mailqueue.mime.decode import octets_to_text, words_to_text
from mailqueue.mime.reader import MimeLimits, Part, read_message, transfer_decoded, unfolded

_HEAD_BYTES = 1024
_SEPARATOR = re.compile(r"[/\\]")


@dataclass(frozen=True, slots=True)
class ShownAttachment:
    """A part that is not shown as text. Its name is for display only, not for paths."""

    filename: str
    content_type: str
    size_bytes: int
    # First bytes, from which its type is recognized.
    head: bytes = field(default=b"", compare=False, repr=False)
    is_named: bool = field(default=False, compare=False)  # it has a file name


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """A message for display; headers decoded, in their order."""

    headers: tuple[tuple[str, str], ...]
    html: str | None
    text: str | None
    attachments: tuple[ShownAttachment, ...]
    is_complete: bool
    """False if a limit left something out."""

    def header(self, name: str) -> str:
        """Return the first header with that name, decoded, or an empty text."""
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


def parse_message(raw: bytes, limits: MimeLimits | None = None) -> ShownMessage:
    """Parse a message for display; never raises."""
    limits = limits or MimeLimits()
    read = read_message(raw, limits)
    html: str | None = None
    text: str | None = None
    attachments: list[ShownAttachment] = []
    is_complete = read.is_complete
    for kind, part, octets in _leaves(read.root):
        if kind is LeafKind.FILE:
            attachments.append(_attachment(part, octets))
            continue
        is_complete = is_complete and len(octets) <= limits.text_bytes
        decoded = octets_to_text(octets[: limits.text_bytes], part.parameter("charset") or "utf-8")
        if kind is LeafKind.HTML:
            html = decoded
        else:
            text = decoded
    return ShownMessage(
        headers=tuple((name, words_to_text(unfolded(value))) for name, value in read.root.fields),
        html=html,
        text=text,
        attachments=tuple(attachments),
        is_complete=is_complete,
    )


def attached_file(raw: bytes, number: int) -> tuple[ShownAttachment, bytes] | None:
    """Return an attachment of a message as `parse_message` lists them, from 0, with its content.

    None if the message has fewer; never raises.
    """
    leaves = _leaves(read_message(raw, MimeLimits()).root)
    files = (leaf for leaf in leaves if leaf.kind is LeafKind.FILE)
    leaf = next(islice(files, max(number, 0), None), None)
    if number < 0 or leaf is None:
        return None
    return _attachment(leaf.part, leaf.octets), leaf.octets


class LeafKind(Enum):
    """What a part without parts below it is shown as."""

    HTML = "html"
    TEXT = "text"
    FILE = "file"


class _Leaf(NamedTuple):
    kind: LeafKind
    part: Part
    octets: bytes


def _leaves(root: Part) -> Iterator[_Leaf]:
    """Yield the parts in order: the first HTML and text are shown, all others are files."""
    shown: set[LeafKind] = set()
    for part in root.walk():
        if part.is_multipart:
            continue
        kind = LeafKind.FILE if _is_attached(part) else _KINDS.get(part.content.get_content_type())
        if kind is None or kind in shown:
            kind = LeafKind.FILE
        if kind is not LeafKind.FILE:
            shown.add(kind)
        yield _Leaf(kind, part, transfer_decoded(part.body, part.encoding))


_KINDS = {"text/html": LeafKind.HTML, "text/plain": LeafKind.TEXT}


def _is_attached(part: Part) -> bool:
    return bool(_filename(part)) or part.content.get_content_disposition() == "attachment"


def _attachment(part: Part, octets: bytes) -> ShownAttachment:
    content_type = part.content.get_content_type()
    head = octets[:_HEAD_BYTES]
    return ShownAttachment(_filename(part), content_type, len(octets), head, _is_attached(part))


def _filename(part: Part) -> str:
    return _SEPARATOR.sub("_", words_to_text(part.filename()))[:200]
