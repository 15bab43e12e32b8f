"""Read what a notification says from the first kilobytes of a mail. Pure."""

import hashlib
from collections.abc import Callable
from email import message_from_bytes
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.utils import parseaddr
from typing import NamedTuple
from uuid import UUID

from mailqueue.ports.mailbox import NewMail
from mailqueue.watch.preview import cut, preview_of_html, preview_of_text

MAX_NAME_CHARACTERS = 256
MAX_ADDRESS_CHARACTERS = 320
MAX_SUBJECT_CHARACTERS = 998
MAX_MESSAGE_ID_CHARACTERS = 998
MAX_PARTS = 100
"""Parts of a message that are looked at."""


class ReadMail(NamedTuple):
    """What a notification says of a mail; `message_id` None: it has none."""

    message_id: str | None
    sender_name: str
    sender_address: str
    subject: str
    preview: str


def read_mail(octets: bytes) -> ReadMail:
    """Return what a mail says; what cannot be read is empty. Never raises."""
    try:
        message = message_from_bytes(octets)
    except Exception:  # a parser meets anything that anybody sent
        return ReadMail(None, "", "", "", "")
    name, address = _sender(message)
    return ReadMail(
        _message_id(message),
        name[:MAX_NAME_CHARACTERS],
        address[:MAX_ADDRESS_CHARACTERS],
        _header(message, "subject")[:MAX_SUBJECT_CHARACTERS],
        _preview(message),
    )


def key_of(mail: NewMail, account: UUID, message_id: str | None) -> UUID:
    """Return what a message is known by: its Message-ID, or its place in the inbox."""
    known = message_id or f"{account} {mail.folder} {mail.validity} {mail.uid}"
    return UUID(bytes=hashlib.sha256(known.encode("utf-8", "replace")).digest()[:16])


def _message_id(message: Message) -> str | None:
    found = "".join(_header(message, "message-id").split())
    return found[:MAX_MESSAGE_ID_CHARACTERS] or None


def _sender(message: Message) -> tuple[str, str]:
    raw = _raw(message, "from") or _raw(message, "sender")
    name, address = parseaddr(raw)
    return _line(_decoded(name)), _line(address)


def _header(message: Message, name: str) -> str:
    return _line(_decoded(_raw(message, name)))


def _raw(message: Message, name: str) -> str:
    try:
        values = (value for key, value in message.raw_items() if key.lower() == name)
        octets = str(next(values, "")).encode("utf-8", "surrogateescape")
        return _text_of(octets, None)[: 8 * MAX_SUBJECT_CHARACTERS]
    except Exception:  # the parser raises many kinds for hostile headers: this one counts as absent
        return ""


def _decoded(text: str) -> str:
    try:
        parts = decode_header(text)
    except (HeaderParseError, ValueError, LookupError):
        return text
    return "".join(
        part if isinstance(part, str) else _text_of(part, charset) for part, charset in parts
    )


def _text_of(octets: bytes, charset: str | None) -> str:
    for name in (charset or "utf-8", "utf-8"):
        try:
            return octets.decode(name, "replace" if name == charset else "strict")
        except (LookupError, UnicodeError):
            continue
    return octets.decode("latin-1")


def _line(text: str) -> str:
    """Return a text on one line, without controls, surrogates and what changes its direction."""
    seen = (" " if one.isspace() else one for one in text if _is_shown(one))
    return " ".join("".join(seen).split())


def _is_shown(character: str) -> bool:
    code = ord(character)
    if character.isspace():
        return True
    is_control = code < 0x20 or 0x7F <= code <= 0x9F or 0xD800 <= code <= 0xDFFF
    is_direction = code in (0x061C, 0x200E, 0x200F) or 0x2028 <= code <= 0x202E
    return not (is_control or is_direction or 0x2066 <= code <= 0x2069)


def _preview(message: Message) -> str:
    html = ""
    for count, part in enumerate(message.walk()):
        if count >= MAX_PARTS:
            break
        kind = part.get_content_type()
        if part.get_filename() is not None:
            continue
        if kind == "text/plain":
            found = _of_part(part, preview_of_text)
            if found:
                return found
        elif kind == "text/html" and not html:
            html = _of_part(part, preview_of_html)
    return cut(html)


def _of_part(part: Message, preview: Callable[[str], str]) -> str:
    try:
        payload = part.get_payload(decode=True)
        octets = payload if isinstance(payload, bytes) else b""
        return preview(_text_of(octets, part.get_content_charset()))
    except Exception:  # HTML and encodings of anybody: this part has no preview
        return ""
