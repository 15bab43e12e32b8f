"""Extract the parts of our own mail that a bounce returns. Pure."""

import re

from mailqueue.core.address import Address, InvalidAddress, parse_address
from mailqueue.inbound.bounces.model import NOTHING_RETURNED, ReturnedMail
from mailqueue.inbound.bounces.tree import BouncePart, read_fields

ID_HEADERS = ("x-mailqueue-id",)
MAX_RECIPIENTS = 50

_HEADERS_ONLY = frozenset(
    {"text/rfc822-headers", "message/rfc822-headers", "message/global-headers", "text/rfc822"}
)
_MESSAGES = frozenset({"message/rfc822", "message/global"})
_MESSAGE_ID = re.compile(r"<[^<>\s]{1,300}>")
_ADDRESS = re.compile(r"[^\s<>,;:\"()\[\]]{1,64}@[A-Za-z0-9._-]{1,255}")
_UUID = re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}")
_HEAD_IN_TEXT = re.compile(
    r"^[ \t>|]{0,4}(Message-ID|X-Mailqueue-ID|To|Return-Path):[ \t]*([^\n]{1,1000})",
    re.MULTILINE | re.IGNORECASE,
)
BEGINS = re.compile(
    r"^[ \t]{0,40}-{2,80}[^\n]{0,60}(?:original|copy of|returned|unsent|undelivered|bounced|your)\b"
    r"[^\n]{0,40}(?:message|mail|header|text|follow)[^\n]{0,60}$"
    r"|^[^\n]{0,60}\b(?:copy of (?:the|your) (?:message|mail|original)|message headers? follows?"
    r"|following is (?:a|the) copy|headers? of the (?:original )?message|message text follows)"
    r"[^\n]{0,60}$"
    r"|^[^\n]{0,40}\boriginal (?:message|mail)(?: headers?)?(?: follows?)?[:.]?[ \t-]*$"
    r"|^[ \t]{0,40}-{2,80}[ \t]*(?:unsent|returned|bounced)[^\n]{0,60}"
    r"|^(?:Return-Path|Received|DKIM-Signature|Reporting-MTA): ",
    re.MULTILINE | re.IGNORECASE,
)
"""The line of a text at which the returned mail begins."""


def returned_in(root: BouncePart) -> ReturnedMail:
    """Return the returned mail, from a part of its own or from the text after the report."""
    for part in root.walk():
        if part is root:
            continue
        if part.content_type in _MESSAGES and part.children:
            return _of_fields(part.children[0].fields)
        if part.content_type in _HEADERS_ONLY:
            return _of_fields(read_fields(part.text().lstrip("\n")))
    return _in_text(root)


def addresses_in(value: str) -> list[str]:
    """Return the addresses in a header field or a line."""
    return _ADDRESS.findall(value)[:MAX_RECIPIENTS]


def _of_fields(fields: tuple[tuple[str, str], ...]) -> ReturnedMail:
    found: dict[str, str] = {}
    for name, value in fields:
        found.setdefault(name.lower(), value)
    ids = [value for name in ID_HEADERS if (value := _uuid(found.get(name, "")))]
    return ReturnedMail(
        message_id=_message_id(found.get("message-id", "")),
        email_id=ids[0] if ids else "",
        recipients=tuple(addresses_in(f"{found.get('to', '')} {found.get('cc', '')}")),
        return_path=_bare(found.get("return-path", "")),
    )


def _in_text(root: BouncePart) -> ReturnedMail:
    for part in root.walk():
        if part.children or not part.content_type.startswith("text/"):
            continue
        text = part.text()
        begin = BEGINS.search(text)
        at = begin.start() if begin else 0
        found: dict[str, str] = {}
        for line in _HEAD_IN_TEXT.finditer(text, at):
            found.setdefault(line[1].lower(), line[2])
        if message_id := _message_id(found.get("message-id", "")):
            return ReturnedMail(
                message_id,
                _uuid(found.get("x-mailqueue-id", "")),
                tuple(addresses_in(found.get("to", ""))),
                _bare(found.get("return-path", "")),
            )
    return NOTHING_RETURNED


def _message_id(value: str) -> str:
    found = _MESSAGE_ID.search(value)
    return found[0] if found else ""


def _uuid(value: str) -> str:
    found = _UUID.fullmatch(value.strip().lower())
    return found[0] if found else ""


def _bare(value: str) -> str:
    found = _ADDRESS.search(value)
    return found[0] if found else ""


def parsed(text: str) -> Address | None:
    """Return an address in the form we store, or None where the text is not an address."""
    try:
        return parse_address(text)
    except InvalidAddress:
        return None
