"""Values in CSS, of style attributes and elements. Pure."""

import re
from typing import NamedTuple
from unicodedata import normalize

from mailqueue.rendering.contexts import links
from mailqueue.rendering.contexts.links import LinkPart

BLOCKED = "blocked"
"""Stands for a value that CSS may not have here: no property knows it."""

_TOKEN = re.compile(
    r"\\.|/\*|\*/|url\(\s*[\"']?|[\"'\n\r\f)]|@import\b|;", re.DOTALL | re.IGNORECASE
)
_NUMBERS = r"\([0-9.,%/\s+-]*\)"
_VALUE = re.compile(
    rf"(?:(?:rgb|rgba|hsl|hsla){_NUMBERS}|'[\w .-]*'|\"[\w .-]*\"|[\w\s.,%#!+*/-])*", re.IGNORECASE
)
_FORBIDDEN = re.compile(
    r"/\*|\*/|//|--|expression|behavio|binding|import|javascript", re.IGNORECASE
)
_PLAIN = re.compile(r"[^A-Za-z0-9 _-]")
_IN_URL = re.compile(r"[()'\";\s\\]")


class Style(NamedTuple):
    """Where a stylesheet is: in a rule (""), a string (its quote), a comment (/*) or a URL (url).

    `quote` is that of a URL, and `link` what was read of it; `is_import` tells that the next
    string is a URL too.
    """

    where: str = ""
    quote: str = ""
    link: LinkPart = LinkPart()
    is_import: bool = False


def read(style: Style, text: str) -> Style:
    """Return where the stylesheet is after text of the template."""
    at = 0
    for found in _TOKEN.finditer(text):
        mark = found[0]
        if style.where == "url":
            if mark != (style.quote or ")") and not (mark in "\n\r\f" and style.quote):
                continue
            style = Style()
        elif style.where == "":
            style = _opened(style, mark)
        elif style.where == "/*":
            if mark == "*/":
                style = style._replace(where="")
        elif mark == style.where or mark in "\n\r\f":
            style = Style()
        at = found.end()
    if style.where == "url":
        return style._replace(link=links.read(style.link, text[at:])[0])
    return style


def written(style: Style, value: str) -> tuple[str, Style]:
    """Return a value, not yet escaped for HTML; it never ends the place in which it stands."""
    if style.where == "url":
        text, link = links.written(style.link, value)
        safe = _IN_URL.sub(lambda found: f"%{ord(found[0]):02X}", text)
        return safe, style._replace(link=link)
    if style.where == "/*":
        return re.sub(r"[^A-Za-z0-9 ]", " ", value), style
    if style.where:
        return _PLAIN.sub(lambda found: f"\\{ord(found[0]):x} ", value), style
    # Compatibility forms of letters are letters to some programs.
    if _VALUE.fullmatch(value) and not _FORBIDDEN.search(normalize("NFKC", value)):
        return value, style
    return BLOCKED, style


def _opened(style: Style, mark: str) -> Style:
    lower = mark.lower()
    if lower.startswith("url("):
        return Style("url", quote=mark[-1] if mark[-1] in "\"'" else "")
    if lower == "@import":
        return style._replace(is_import=True)
    if mark in "\"'":
        if style.is_import:
            return Style("url", quote=mark)
        return Style(mark)
    if mark == "/*":
        return style._replace(where="/*")
    return Style() if mark == ";" else style
