"""Estimates the number of values in a JSON text without parsing it. Pure.

A text of 30 MB can contain ten million values, and parsing takes about a thousand bytes for each.
"""

import re
from collections import Counter
from itertools import islice

MAX_EXAMINED_MARKS = 50_000
"""Marks of structure after which the largest field is determined."""
_MARKS = b'",[{'
_NO_MARKS = bytes(octet for octet in range(256) if octet not in _MARKS)
_STRINGS = re.compile(rb'"[^"]*+"?')
_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[\]{},:]', re.DOTALL)
_NAME_BYTES = 100


def values_in(text: bytes, *, few: int, most: int) -> int:
    """Return the number of values in a JSON text, give or take one.

    The number is exact only between `few` and `most`: up to `few` it may be too large, above `most`
    too small. For a text that is not JSON, it may be any number.
    """
    if len(text) <= few:
        return len(text)
    count = _count(text)
    if count <= few:
        return count
    if b"\\" in text:
        text = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    marks = text.translate(None, _NO_MARKS)
    # At most two strings, a key and its value, follow each comma and bracket.
    if (least := (marks.count(b'"') - 2) // 4) > most:
        return least
    return _count(_STRINGS.sub(b"", marks))


def most_values_in(text: bytes) -> int:
    """Return a fast upper bound of the number of values in a JSON text."""
    return min(len(text), 1 + _count(text))


def _count(text: bytes) -> int:
    # A value follows each comma and each opening bracket.
    return text.count(b",") + text.count(b"[") + text.count(b"{")


def largest_field(text: bytes) -> str:
    """Return the field of a JSON object with most values; "body" if none has half of them.

    Determined from the beginning of the text.
    """
    counts: Counter[str] = Counter()
    depth, field, string = 0, "", b""
    for found in islice(_TOKENS.finditer(text), MAX_EXAMINED_MARKS):
        at = found.start()
        match text[at : at + 1]:
            case b'"':
                string = text[at + 1 : min(found.end() - 1, at + 1 + _NAME_BYTES)]
            case b":":
                field = string.decode("utf-8", "replace") if depth == 1 else field
            case b"[" | b"{":
                counts[field] += depth > 0
                depth += 1
            case b"]" | b"}":
                depth -= 1
            case _:
                counts[field] += 1
    (name, count), *_ = counts.most_common(1) or [("", 0)]
    return name if name and 2 * count > counts.total() else "body"
