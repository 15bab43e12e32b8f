"""Parses untrusted messages for display: headers, texts and attachments. Pure."""

import re
from dataclasses import dataclass, field

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
    for part in read.root.walk():
        if part.is_multipart:
            continue
        content_type = part.content.get_content_type()
        filename = _filename(part)
        octets = transfer_decoded(part.body, part.encoding)
        is_attached = bool(filename) or part.content.get_content_disposition() == "attachment"
        is_html = content_type == "text/html" and html is None
        is_text = content_type == "text/plain" and text is None
        if is_attached or not (is_html or is_text):
            attachments.append(
                ShownAttachment(
                    filename, content_type, len(octets), octets[:_HEAD_BYTES], is_attached
                )
            )
            continue
        is_complete = is_complete and len(octets) <= limits.text_bytes
        decoded = octets_to_text(octets[: limits.text_bytes], part.parameter("charset") or "utf-8")
        if is_html:
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


def _filename(part: Part) -> str:
    return _SEPARATOR.sub("_", words_to_text(part.filename()))[:200]
