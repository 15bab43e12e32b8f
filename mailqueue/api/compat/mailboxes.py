"""Parse mailboxes in the formats of other providers' clients. Pure.

They send lists in one text, and names encoded for headers (RFC 2047). The addresses are validated
later, when the mail is accepted.
"""

import re
from email.errors import HeaderParseError
from email.header import decode_header, make_header

MAX_ENCODED = 2000
"""Longest encoded name that is decoded, in characters: decoding takes quadratic time."""
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_TO_ESCAPE = re.compile(r'(["\\])')
_PLAIN_NAME = re.compile(r'[^"<>(),:;@\\.\[\]]+')


def split_mailboxes(text: str) -> list[str]:
    """Return the mailboxes of a comma-separated list, each in the form of `mailbox`."""
    parts: list[str] = []
    part: list[str] = []
    is_quoted = is_framed = is_escaped = False
    for character in text:
        if character == "," and not is_quoted and not is_framed:
            parts.append("".join(part))
            part = []
            continue
        part.append(character)
        if is_escaped:
            is_escaped = False
        elif is_quoted:
            is_escaped = character == "\\"
            is_quoted = character != '"'
        elif character in "<>":
            is_framed = character == "<"
        elif character == '"' and not is_framed:
            is_quoted = True
    parts.append("".join(part))
    return [mailbox(each) for each in parts if each.strip()]


def mailbox(text: str) -> str:
    """Return one mailbox in our form: the name, if any, decoded and quoted."""
    return format_mailbox(*split_mailbox(text))


def split_mailbox(text: str) -> tuple[str, str]:
    """Return name and address of a mailbox; text without brackets is an address."""
    trimmed = text.strip()
    before, bracket, address = trimmed.rpartition("<")
    if not bracket or not address.endswith(">"):
        return "", trimmed
    return _name(before.strip()), address[:-1].strip()


def _name(written: str) -> str:
    if len(written) >= 2 and written.startswith('"') and written.endswith('"'):
        written = _ESCAPED.sub(r"\1", written[1:-1])
    if "=?" not in written or len(written) > MAX_ENCODED:
        return written
    try:
        return str(make_header(decode_header(written)))
    except (HeaderParseError, LookupError, UnicodeError, ValueError):
        return written


def format_mailbox(name: str | None, address: str) -> str:
    """Return name and address as one mailbox; the name is quoted only if necessary."""
    if not name:
        return address
    if _PLAIN_NAME.fullmatch(name):
        return f"{name} <{address}>"
    escaped = _TO_ESCAPE.sub(r"\\\1", name)
    return f'"{escaped}" <{address}>'
