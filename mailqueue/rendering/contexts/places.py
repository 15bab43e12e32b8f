"""Where in a document of HTML a template is, after what was written so far. Pure.

As browsers read HTML: https://html.spec.whatwg.org/multipage/parsing.html#tokenization.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from html import unescape

from mailqueue.rendering.contexts import links, scripts, styles
from mailqueue.rendering.contexts.links import LinkPart
from mailqueue.rendering.contexts.names import KIND_BY_ELEMENT, RAW_ELEMENTS, ValueKind, kind_of
from mailqueue.rendering.contexts.styles import Style
from mailqueue.rendering.contexts.usual import USUAL_MARKUP


class Where(Enum):
    """Part of HTML in which the next character stands."""

    TEXT = "text"
    RAW = "raw"  # the content of script, style and their like
    COMMENT = "comment"
    TAG_NAME = "tag name"
    TAG = "tag"  # before the name of an attribute
    NAME = "name"
    BEFORE_VALUE = "before value"
    VALUE = "value"


_RAW_ENDS = {
    name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in sorted(RAW_ELEMENTS)
}
_COMMENT_END = re.compile(r"--!?>")
_OPENING = re.compile(
    r"<(?:(?P<empty>!---?>)|(?P<comment>!--(?!\s*\[if))|(?P<other>[!?])|(?P<close>/)?(?=[A-Za-z]|\Z))",
    re.IGNORECASE,
)
_NAME_END = re.compile(r"[\s/>]")
_NAME_START = re.compile(r"[^\s/>]")
_ATTRIBUTE_END = re.compile(r"[\s/>=]")
_VALUE_START = re.compile(r"\S")
_LINK, _STYLE = LinkPart(), Style()  # before anything was read
_UNQUOTED_END = re.compile(r"[\s>]")

Charge = Callable[[int], None]
_CHARACTERS_A_UNIT = 6  # as a shift, of usual markup
_UNITS_A_STEP = 10
_SHIFT_BY_KIND = {ValueKind.STYLE: 1, ValueKind.SCRIPT: 2, ValueKind.LINK: 3}
"""Characters of a unit, as a shift, where contents are read by their own syntax."""


def uncharged(_units: int) -> None:
    """Charge nothing."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in HTML: where it is, and of what element and attribute.

    `is_end` is true in an end tag. `quote` encloses the value of the attribute, "" an unquoted one.
    `link`, `style` and `script` are read on in contents of their kind.
    """

    where: Where = Where.TEXT
    element: str = ""
    is_end: bool = False
    attribute: str = ""
    quote: str = ""
    kind: ValueKind = ValueKind.PLAIN
    link: LinkPart = _LINK
    style: Style = _STYLE
    script: str = scripts.CODE
    after: dict[str, tuple["Place", str, int]] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )
    """Results of `read`, kept by its caller, each with the units it was charged."""
    behind: dict[LinkPart | Style, "Place"] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )
    is_text: bool = field(default=False, init=False, compare=False, repr=False)
    """Whether a value needs no more than the escapes of text."""
    is_link: bool = field(default=False, init=False, compare=False, repr=False)
    """Whether a value begins a link."""
    is_kept: bool = field(default=False, init=False, compare=False, repr=False)
    """Whether it will be met again: the places behind it are worth remembering."""

    def __post_init__(self) -> None:
        is_text = self.where in (Where.TEXT, Where.COMMENT) or (
            self.kind is ValueKind.PLAIN
            and (self.where is Where.RAW or (self.where is Where.VALUE and self.quote != ""))
        )
        object.__setattr__(self, "is_text", is_text)
        is_value = self.where is Where.VALUE and self.quote != "" and self.kind is ValueKind.LINK
        object.__setattr__(self, "is_link", is_value and self.link == _LINK)

    def keep(self) -> None:
        """Mark it as one that will be met again."""
        object.__setattr__(self, "is_kept", True)

    def with_link(self, link: LinkPart) -> "Place":
        """Return the place behind a value that is a part of a link."""
        found = self.behind.get(link)
        if found is None:
            found = replace(self, link=link)
            if self.is_kept and not link.is_given:
                found.keep()
                self.behind[link] = found
        return found

    def with_style(self, style: Style) -> "Place":
        """Return the place behind a value of CSS."""
        if style == self.style:
            return self
        found = self.behind.get(style)
        if found is None:
            found = replace(self, style=style)
            if self.is_kept and not style.link.is_given:
                found.keep()
                self.behind[style] = found
        return found

    def read(self, text: str, charge: Charge = uncharged) -> tuple["Place", str]:
        """Return the place after text of the template, and the text to write; "" is a value.

        `charge` is called with units of work before they are done.
        """
        charge(1 + (len(text) >> _CHARACTERS_A_UNIT))
        if not text and self.where is Where.BEFORE_VALUE:
            return replace(self, where=Where.VALUE, quote=""), '""'
        place, at = self, 0
        made: list[str] = []
        while at < len(text):
            if place.where is Where.TEXT and (usual := USUAL_MARKUP.match(text, at)):
                made.append(usual[0])
                at = usual.end()
                continue
            charge(_UNITS_A_STEP)
            if (shift := _SHIFT_BY_KIND.get(place.kind)) is not None:
                charge((_end(place, text, at) - at) >> shift)
            place, end, stop = _STEPS[place.where](place, text, at)
            made += (links.BLOCKED, text[at:end]) if stop else (text[at:end],)
            at = end
        return place, "".join(made)


Step = tuple[Place, int, bool]
"""The next place, where it begins in the text, and whether the text must not go on a scheme."""


def _text(place: Place, text: str, at: int) -> Step:
    found = _OPENING.search(text, at)
    if found is None:
        return place, len(text), False
    if found["empty"]:
        return place, found.end(), False
    if found["comment"]:
        return Place(Where.COMMENT), found.end(), False
    if found["other"]:  # a doctype, or a conditional comment, whose content is HTML to Outlook
        end = text.find(">", found.end())
        return place, len(text) if end < 0 else end + 1, False
    return Place(Where.TAG_NAME, is_end=found["close"] is not None), found.end(), False


def _raw(place: Place, text: str, at: int) -> Step:
    found = _RAW_ENDS[place.element].search(text, at)
    end = len(text) if found is None else found.start()
    if found is not None and place.element != "plaintext":
        return Place(Where.TAG, element=place.element, is_end=True), found.end(), False
    return _inside(place, text[at:end], decode=False)[0], len(text), False


def _comment(place: Place, text: str, at: int) -> Step:
    found = _COMMENT_END.search(text, at)
    return (place, len(text), False) if found is None else (Place(), found.end(), False)


def _tag_name(place: Place, text: str, at: int) -> Step:
    if not place.element and not text[at].isalpha():
        return Place(), at, False
    found = _NAME_END.search(text, at)
    end = len(text) if found is None else found.start()
    named = replace(place, element=(place.element + text[at:end].lower())[:60])
    if found is None:
        return named, end, False
    return replace(named, where=Where.TAG), end, False


def _tag(place: Place, text: str, at: int) -> Step:
    if text[at] == ">":
        return _content(place), at + 1, False
    found = _NAME_START.search(text, at)
    if found is None or found.start() > at:
        closes = text.find(">", at, len(text) if found is None else found.start())
        end = closes if closes >= 0 else (len(text) if found is None else found.start())
        return place, end, False
    # An = here begins a name, as browsers read it.
    return (
        Place(Where.NAME, element=place.element, is_end=place.is_end, attribute=text[at].lower()),
        at + 1,
        False,
    )


def _name(place: Place, text: str, at: int) -> Step:
    found = _ATTRIBUTE_END.search(text, at)
    end = len(text) if found is None else found.start()
    named = replace(place, attribute=(place.attribute + text[at:end].lower())[:60])
    if found is None:
        return named, end, False
    if found[0] == "=":
        return (
            replace(named, where=Where.BEFORE_VALUE, kind=kind_of(named.attribute)),
            end + 1,
            False,
        )
    if found[0].isspace():
        rest = _VALUE_START.search(text, end)
        if rest is None or rest[0] == "=":
            return named, len(text) if rest is None else rest.start(), False
    return Place(Where.TAG, element=place.element, is_end=place.is_end), end, False


def _before_value(place: Place, text: str, at: int) -> Step:
    found = _VALUE_START.search(text, at)
    if found is None:
        return place, len(text), False
    if found[0] == ">":
        return _content(place), found.end(), False
    quote = found[0] if found[0] in "\"'" else ""
    return (
        replace(place, where=Where.VALUE, quote=quote),
        found.end() if quote else found.start(),
        False,
    )


def _end(place: Place, text: str, at: int) -> int:
    """Return where the contents of an attribute or element end that have their own syntax."""
    match place.where:
        case Where.VALUE if place.quote:
            end = text.find(place.quote, at)
            return len(text) if end < 0 else end
        case Where.VALUE:
            found = _UNQUOTED_END.search(text, at)
        case Where.RAW:
            found = _RAW_ENDS[place.element].search(text, at)
        case _:
            return at
    return len(text) if found is None else found.start()


def _value(place: Place, text: str, at: int) -> Step:
    found_end = _end(place, text, at)
    if found_end > at:
        inside, stop = _inside(place, text[at:found_end], decode=True)
        return inside, found_end, stop
    return (
        Place(Where.TAG, element=place.element, is_end=place.is_end),
        (found_end + 1 if place.quote else found_end),
        False,
    )


def _inside(place: Place, text: str, *, decode: bool) -> tuple[Place, bool]:
    """Return the place after a part of an attribute's value or of an element's content."""
    if decode and "&" in text:
        text = unescape(text)
    match place.kind:
        case ValueKind.LINK:
            link, stop = links.read(place.link, text)
            return replace(place, link=link), stop
        case ValueKind.STYLE:
            return replace(place, style=styles.read(place.style, text)), False
        case ValueKind.SCRIPT:
            return replace(place, script=scripts.read(place.script, text)), False
        case _:
            return place, False


def _content(place: Place) -> Place:
    """Return the place behind a tag."""
    if place.is_end or place.element not in RAW_ELEMENTS:
        return Place()
    kind = KIND_BY_ELEMENT.get(place.element, ValueKind.PLAIN)
    return Place(Where.RAW, element=place.element, kind=kind)


_STEPS = {
    Where.TEXT: _text,
    Where.RAW: _raw,
    Where.COMMENT: _comment,
    Where.TAG_NAME: _tag_name,
    Where.TAG: _tag,
    Where.NAME: _name,
    Where.BEFORE_VALUE: _before_value,
    Where.VALUE: _value,
}
