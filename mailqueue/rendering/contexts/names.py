"""Elements and attributes of HTML whose content is more than text. Pure."""

from enum import Enum


class ValueKind(Enum):
    """What the value of an attribute, or the content of an element, is."""

    PLAIN = "plain"
    LINK = "link"
    LINKS = "links"  # srcset
    STYLE = "style"
    SCRIPT = "script"
    HTML = "html"  # srcdoc


# fmt: off
_LINK_ATTRIBUTES = frozenset({
    "action", "archive", "background", "cite", "classid", "code", "codebase", "data", "dynsrc",
    "formaction", "href", "icon", "longdesc", "lowsrc", "manifest", "ping", "poster", "profile",
    "src", "usemap", "xlink:href", "xml:base",
})
# fmt: on
_KIND_BY_ATTRIBUTE = {
    "style": ValueKind.STYLE,
    "srcset": ValueKind.LINKS,
    "imagesrcset": ValueKind.LINKS,
} | {"srcdoc": ValueKind.HTML}
KIND_BY_ELEMENT = {"script": ValueKind.SCRIPT, "style": ValueKind.STYLE}
# fmt: off
RAW_ELEMENTS = frozenset({
    "iframe", "noembed", "noframes", "plaintext", "script", "style", "textarea", "title", "xmp",
})
# fmt: on


def kind_of(attribute: str) -> ValueKind:
    """Return what the value of an attribute is, by its name in lower case."""
    if attribute.startswith("on"):
        return ValueKind.SCRIPT
    if attribute in _LINK_ATTRIBUTES:
        return ValueKind.LINK
    return _KIND_BY_ATTRIBUTE.get(attribute, ValueKind.PLAIN)
