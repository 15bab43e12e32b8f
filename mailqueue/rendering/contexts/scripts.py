"""Values in scripts and event handlers. Pure.

Mail programs remove both; structured data for them (`application/ld+json`) is a script too.
"""

import re

_LITERAL = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")
_PLAIN = re.compile(r"[^A-Za-z0-9 _.,-]")
_TOKEN = re.compile(r"\\.|/\*|\*/|//|[\"'`\n\r\u2028\u2029]", re.DOTALL)
_NEWLINES = frozenset("\n\r\u2028\u2029")
CODE = ""
"""Outside of strings and comments; other states are the mark that began them."""


def read(state: str, text: str) -> str:
    """Return the state after text of the template: a quote, // or /*, or CODE."""
    for found in _TOKEN.finditer(text):
        mark = found[0]
        if state == CODE:
            if mark in ('"', "'", "`", "//", "/*"):
                state = mark
        elif state == "//":
            if mark in _NEWLINES:
                state = CODE
        elif state == "/*":
            if mark == "*/":
                state = CODE
        elif mark == state or (mark in _NEWLINES and state != "`"):
            state = CODE
    return state


def written(state: str, value: str) -> str:
    """Return a value: in a string as its characters, in code as a literal."""
    if state in ("//", "/*"):
        return re.sub(r"[^A-Za-z0-9 ]", " ", value)
    if state == CODE:
        return f" {value} " if _LITERAL.fullmatch(value) else f'"{_characters(value)}"'
    return _characters(value)


def _characters(value: str) -> str:
    """Return text for a string; should it stand in code after all, it is no call there."""
    return _PLAIN.sub(_escape, value)


def _escape(found: re.Match[str]) -> str:
    char = found[0]
    if ord(char) < 0x10000:
        return f"\\u{ord(char):04x}"
    high, low = divmod(ord(char) - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
