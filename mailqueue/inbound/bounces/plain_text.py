"""Extract the plain text of a bounce from its text and HTML parts. Pure."""

import re
from collections.abc import Iterator

from mailqueue.inbound.bounces.tree import BouncePart

_TAG = re.compile(r"<(?![A-Za-z0-9._%+-]{1,64}@)[^<>]{0,2000}>")
_BREAK = re.compile(r"<(?:br|/p|/div|/tr|/li|/h\d|/td)\b[^<>]{0,200}>", re.IGNORECASE)
_SILENT = re.compile(r"<(/?)(?:style|script|head)\b[^<>]{0,500}>", re.IGNORECASE)
MAX_HTML_CHARACTERS = 60_000
_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&nbsp;", " "), ("&#64;", "@"), ("&amp;", "&"))


def text_of(root: BouncePart) -> str:
    """Return the text of a message, without the mail that it returns."""
    pieces: list[str] = []
    html = ""
    for part in _own(root):
        if part.content_type == "text/html":
            html = html or _plain(part.text())
        elif part.content_type.startswith("text/") or (part is root and not part.children):
            pieces.append(part.text())
    return "\n".join(pieces) if "".join(pieces).strip() else html


def _own(part: BouncePart) -> Iterator[BouncePart]:
    if not part.children:
        if part.content_type not in ("text/rfc822-headers", "message/rfc822"):
            yield part
        return
    if part.content_type.startswith("message/"):
        return
    for child in part.children:
        yield from _own(child)


def _plain(html: str) -> str:
    text = _TAG.sub("", _BREAK.sub("\n", _without_styles(html[:MAX_HTML_CHARACTERS])))
    for entity, character in _ENTITIES:
        text = text.replace(entity, character)
    return text


def _without_styles(html: str) -> str:
    """Return HTML without its styles, scripts and head."""
    pieces: list[str] = []
    at = depth = 0
    for tag in _SILENT.finditer(html):
        if depth == 0:
            pieces.append(html[at : tag.start()])
        depth = max(0, depth - 1) if tag[1] else depth + 1
        at = tag.end()
    return "".join([*pieces, html[at:] if depth == 0 else ""])
