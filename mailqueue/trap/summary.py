"""Summarizes a message for the list. Pure; never raises."""

import re

from mailqueue.core.entities import unescaped
from mailqueue.mime.parse import ShownMessage, parse_message
from mailqueue.mime.reader import MimeLimits
from mailqueue.trap.model import CaughtMessage

# Enough for a line of the list; bounds the cost of hostile messages.
LOOK = MimeLimits(
    message_bytes=1024 * 1024,
    header_bytes=64 * 1024,
    parts=20,
    depth=8,
    boundary_lines=100,
    text_bytes=8_000,
)
PREVIEW_CHARACTERS = 200
HEADER_CHARACTERS = 1_000

_UNSEEN = re.compile(
    r"<(style|script|head|title)\b.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)", re.I | re.S
)
_TAG = re.compile(r"<[^<>]*>?")


def caught(mail_from: str, rcpt_to: tuple[str, ...], raw: bytes) -> CaughtMessage:
    """Return a message with the values of the list."""
    shown = parse_message(raw, LOOK)
    return CaughtMessage(
        mail_from=mail_from,
        rcpt_to=rcpt_to,
        subject=_kept(shown.subject)[:HEADER_CHARACTERS],
        from_header=_kept(shown.sender)[:HEADER_CHARACTERS],
        to_header=_kept(shown.to)[:HEADER_CHARACTERS],
        preview=_preview(shown),
        raw=raw,
    )


def _preview(shown: ShownMessage) -> str:
    text = shown.text
    if not text or not text.strip():
        text = unescaped(_TAG.sub(" ", _UNSEEN.sub(" ", shown.html or "")))
    return _kept(" ".join(text.split())[:PREVIEW_CHARACTERS])


def _kept(text: str) -> str:
    """Replace what PostgreSQL cannot store in text: NUL and lone surrogates."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
