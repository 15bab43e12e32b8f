"""Parse the fields of a report: groups, typed addresses, xtext. Pure.

RFC 3464 section 2, RFC 3461 section 4 (xtext), RFC 6533 section 3 (utf-8 addresses).
"""

import re

from mailqueue.inbound.bounces.tree import DEFAULT_LIMITS, read_fields
from mailqueue.mime.decode import words_to_text
from mailqueue.mime.reader import MimeLimits

MAX_GROUPS = 200
_RECIPIENT_BEGINS = frozenset({"original-recipient", "final-recipient"})

_BLANK = re.compile(r"\n[ \t]*\n")
_XTEXT = re.compile(r"\+([0-9A-F]{2})")
_UNITEXT = re.compile(r"\\x\{([0-9A-Fa-f]{1,6})\}")
_COMMENT = re.compile(r"\([^()]{0,200}\)")
_BARE = re.compile(r"[^\s<>,;\"]{1,64}@[^\s<>,;\"]{1,255}|\"[^\"\n]{1,62}\"@[^\s<>,;]{1,255}")

Group = dict[str, list[str]]
"""Field values of one group, by field name in lower case."""


def groups_of(text: str, limits: MimeLimits = DEFAULT_LIMITS) -> list[Group]:
    """Return the groups of fields that blank lines separate, without the empty ones.

    A second recipient also begins a group: some servers omit the blank line.
    """
    groups: list[Group] = []
    for block in _BLANK.split(text.strip("\n"), MAX_GROUPS):
        group: Group = {}
        for name, value in read_fields(block.lstrip("\n"), limits):
            key = name.lower()
            if key in _RECIPIENT_BEGINS and key in group and "action" in group:
                groups.append(group)
                group = {}
            group.setdefault(key, []).append(value)
        if group:
            groups.append(group)
    return groups[:MAX_GROUPS]


def first(group: Group, name: str) -> str:
    """Return the first value of a field; "" where the field is missing."""
    return group.get(name, [""])[0]


def typed(value: str) -> tuple[str, str]:
    """Return the type of a field such as `dns; mx.example.com` in lower case, and its value."""
    kind, semicolon, rest = value.partition(";")
    if not semicolon:
        return "", value.strip()
    return _COMMENT.sub("", kind).strip().lower(), rest.strip()


def address_of(value: str) -> str:
    """Return the address of a field such as `rfc822; <ann@example.com>`; "" where there is none."""
    kind, text = typed(value)
    if kind == "utf-8":
        text = _UNITEXT.sub(_character, text)
    found = _BARE.search(words_to_text(text))
    return found[0].strip("<>'.:") if found else ""


def without_xtext(address: str) -> str:
    """Return an address with its xtext decoded; unchanged where the result would be no text.

    `bob+20@example.com` may be xtext or not, so both readings are compared with the recipients of
    the mail.
    """
    decoded = _XTEXT.sub(lambda found: chr(int(found[1], 16)), address)
    return decoded if decoded.isascii() and decoded.isprintable() else address


def _character(match: re.Match[str]) -> str:
    number = int(match[1], 16)
    is_one = number <= 0x10FFFF and not 0xD800 <= number <= 0xDFFF
    return chr(number) if is_one else match[0]
