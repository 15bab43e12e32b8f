"""Encodes files as message parts: headers, names and base64. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from mailqueue.mime.body import base64_lines

_SECTION_OCTETS = 50  # bytes per section of a long parameter, so that its line has at most 76
_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,63}/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}")
_CONTENT_ID = re.compile(r"[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~.]{1,128}(@[A-Za-z0-9.-]{1,128})?")
_PLAIN_NAME = re.compile(r'[^"\\\x00-\x1f\x7f-\uffff\U00010000-\U0010ffff]{1,50}')
# Controls end lines, and direction marks disguise file types (`exe.gpj`); the others are invalid.
_NO_NAME = re.compile(
    "[\x00-\x1f\x7f-\x9f/\\\\\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
MAX_NAME_BYTES = 255


@dataclass(frozen=True, slots=True)
class MessageFile:
    """A file of a message. With a Content-ID it is shown inside the HTML, else it is attached."""

    name: str
    content_type: str
    octets: bytes = field(repr=False)
    content_id: str = ""  # without angle brackets


def check_file(file: MessageFile) -> None:
    """Refuse a file whose name, type or Content-ID cannot be written to a header.

    Raises:
        ValueError: the message names the value and the reason.
    """
    if (
        not file.name.strip().strip(".")
        or len(file.name.encode("utf-8", "replace")) > MAX_NAME_BYTES
    ):
        raise ValueError(f"a file name has 1 to {MAX_NAME_BYTES} bytes, got {file.name[:80]!r}")
    if found := _NO_NAME.search(file.name):
        raise ValueError(f"a file name contains the character U+{ord(found[0]):04X}")
    if not _TYPE.fullmatch(file.content_type):
        raise ValueError(f"{file.content_type[:100]!r} is not a content type")
    if file.content_type.startswith(("multipart/", "message/")):
        raise ValueError(f"{file.content_type} cannot be attached")
    if file.content_id and not _CONTENT_ID.fullmatch(file.content_id):
        raise ValueError(f"{file.content_id[:100]!r} is not a Content-ID")


def file_part(file: MessageFile) -> bytes:
    """Return a file as a part of a multipart, in base64.

    Raises:
        ValueError: as `check_file`.
    """
    check_file(file)
    disposition = "inline" if file.content_id else "attachment"
    head = [
        f"Content-Type: {file.content_type}",
        *_parameter("name", file.name),
        f"\r\nContent-Disposition: {disposition}",
        *_parameter("filename", file.name),
        "\r\nContent-Transfer-Encoding: base64\r\n",
        f"Content-ID: <{file.content_id}>\r\n" if file.content_id else "",
        "\r\n",
    ]
    return "".join(head).encode() + base64_lines(file.octets)


def inline_and_attached(
    files: Sequence[MessageFile],
) -> tuple[list[MessageFile], list[MessageFile]]:
    """Split files into those that the HTML shows by Content-ID, and the others.

    Raises:
        ValueError: a Content-ID occurs twice.
    """
    inline = [file for file in files if file.content_id]
    ids = [file.content_id for file in inline]
    if len(set(ids)) < len(ids):
        raise ValueError(f"the Content-ID {max(ids, key=ids.count)} occurs twice")
    return inline, [file for file in files if not file.content_id]


def _parameter(name: str, value: str) -> list[str]:
    """Return a parameter, quoted if ASCII, else in sections on separate lines (RFC 2231)."""
    # Many readers decode encoded words here, though RFC 2047 forbids it: such values are encoded.
    if _PLAIN_NAME.fullmatch(value) and "=?" not in value:
        return [f';\r\n {name}="{value}"']
    first, *rest = _sections(quote(value, safe="!#$&+-.^_`|~"))
    if not rest:
        return [f";\r\n {name}*=UTF-8''{first}"]
    return [
        f";\r\n {name}*0*=UTF-8''{first}",
        *(f";\r\n {name}*{number}*={section}" for number, section in enumerate(rest, 1)),
    ]


def _sections(quoted: str) -> list[str]:
    """Split a percent-encoded text without splitting an escape."""
    pieces = re.findall(r"%[0-9A-F]{2}|[^%]", quoted)
    sections = [""]
    for piece in pieces:
        if len(sections[-1]) + len(piece) > _SECTION_OCTETS:
            sections.append("")
        sections[-1] += piece
    return sections
