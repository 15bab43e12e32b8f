"""Write a value at a place in HTML, so that it stays in it. Pure."""

import re
from collections.abc import Callable
from dataclasses import replace

from markupsafe import escape

from mailqueue.rendering.contexts import links, scripts, styles
from mailqueue.rendering.contexts.links import LinkPart
from mailqueue.rendering.contexts.names import ValueKind
from mailqueue.rendering.contexts.places import Place, Where

BLOCKED = "blocked"
"""Stands for a value that may not be the name of an element or attribute."""

# fmt: off
_ELEMENTS = frozenset({
    "a", "abbr", "article", "aside", "b", "big", "blockquote", "br", "caption", "center",
    "cite", "code", "col", "colgroup", "dd", "div", "dl", "dt", "em", "figcaption", "figure",
    "font", "footer", "h", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "i", "img",
    "ins", "li", "main", "nav", "ol", "p", "pre", "q", "s", "section", "small", "span",
    "strike", "strong", "sub", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "tr",
    "tt", "u", "ul",
})
# fmt: on
_UNITS_A_VALUE = 20
_CHARACTERS_A_UNIT = 5  # as a shift, where all of a value is escaped at once
_UNITS_BY_KIND = {ValueKind.LINK: 2, ValueKind.LINKS: 3, ValueKind.SCRIPT: 2}
"""Units of a character, where not 1."""
_UNITS_OF_COMPATIBILITY = 6
"""Units of a character in CSS that may stand for up to 18 others."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9:-]*|[A-Za-z0-9:-]*")
_LATER = frozenset(links.LATER.values())
_UNQUOTED = re.compile(r"[\s=`]")
_CANDIDATE = re.compile(r"\s*(?P<url>\S+)(?P<size>\s+[0-9.]+[wxh])?\s*")


def written(place: Place, value: str, *, is_json: bool = False) -> tuple[str, Place]:
    """Return the text for a value, and the place behind it.

    `is_json`: the value is JSON, a literal of scripts. A value that the place cannot have is
    replaced by one that has no effect.
    """
    if value.startswith("{{ ") and value in _LATER:
        if place.where is Where.VALUE and place.kind is ValueKind.LINK:
            place = replace(place, link=LinkPart("path"))
        return value, place
    match place.where:
        case Where.TEXT | Where.COMMENT:
            return value if is_json else str(escape(value)), place
        case Where.TAG_NAME:
            return _element(place, value)
        case Where.TAG | Where.NAME:
            return _attribute(place, value)
        case Where.BEFORE_VALUE:
            text, place = written(
                replace(place, where=Where.VALUE, quote=""), value, is_json=is_json
            )
            return text or '""', place
        case Where.RAW:
            text, place = _content(place, value, is_json=is_json)
            return (str(escape(text)) if place.kind is ValueKind.PLAIN else text), place
        case Where.VALUE:
            text, place = _content(place, value, is_json=is_json)
            text = str(escape(text))
            return (text if place.quote else _UNQUOTED.sub(_reference, text)), place


def units_of(place: Place, value: str, *, is_json: bool = False) -> int:
    """Return the units of work of writing a value at a place."""
    length = len(value)
    if place.is_text or is_json:
        return _UNITS_A_VALUE + (length >> _CHARACTERS_A_UNIT)
    if place.kind is ValueKind.STYLE and not value.isascii():
        return _UNITS_A_VALUE + length * _UNITS_OF_COMPATIBILITY
    if place.kind is ValueKind.LINK and links.is_usual(value):
        return _UNITS_A_VALUE + (length >> _CHARACTERS_A_UNIT)
    return _UNITS_A_VALUE + length * _UNITS_BY_KIND.get(place.kind, 1)


def _content(place: Place, value: str, *, is_json: bool) -> tuple[str, Place]:
    if is_json and place.kind is ValueKind.SCRIPT and place.script == scripts.CODE:
        return value, place
    return _BY_KIND[place.kind](place, value)


def _element(place: Place, value: str) -> tuple[str, Place]:
    named = place.element + value.lower()
    if not place.element and not value[:1].isalpha():  # text after a <
        return str(escape(value)), Place()
    if named not in _ELEMENTS:
        return BLOCKED, replace(place, element=place.element + BLOCKED)
    return value, replace(place, element=named)


def _attribute(place: Place, value: str) -> tuple[str, Place]:
    begun = place.attribute if place.where is Where.NAME else ""
    named = begun + value.lower()
    if not value or not _NAME.fullmatch(value) or named.startswith("on"):
        value = BLOCKED
    return value, Place(
        Where.NAME, element=place.element, is_end=place.is_end, attribute=begun + value.lower()
    )


def _plain(place: Place, value: str) -> tuple[str, Place]:
    return value, place


def _link(place: Place, value: str) -> tuple[str, Place]:
    is_picture = (place.element, place.attribute) == ("img", "src")
    text, link = links.written(place.link, value, is_picture=is_picture)
    return text, place.with_link(link)


def _links(place: Place, value: str) -> tuple[str, Place]:
    given = [_CANDIDATE.fullmatch(one) for one in value.split(",")]
    urls = [links.written(LinkPart(), one["url"])[0] for one in given if one is not None]
    if None in given or links.BLOCKED in urls:
        return links.BLOCKED, place
    made = [url + (one["size"] or "") for one, url in zip(given, urls, strict=True) if one]
    return ", ".join(made), place


def _style(place: Place, value: str) -> tuple[str, Place]:
    text, style = styles.written(place.style, value)
    return text, place.with_style(style)


def _script(place: Place, value: str) -> tuple[str, Place]:
    return scripts.written(place.script, value), place


def _html(place: Place, value: str) -> tuple[str, Place]:
    return str(escape(value)), place


def _reference(found: re.Match[str]) -> str:
    return f"&#{ord(found[0])};"


_BY_KIND: dict[ValueKind, Callable[[Place, str], tuple[str, Place]]] = {
    ValueKind.PLAIN: _plain,
    ValueKind.LINK: _link,
    ValueKind.LINKS: _links,
    ValueKind.STYLE: _style,
    ValueKind.SCRIPT: _script,
    ValueKind.HTML: _html,
}
