"""Values in links: which schemes they may have, and which characters are percent-encoded. Pure."""

import re
from string import ascii_letters, digits
from typing import NamedTuple
from urllib.parse import quote

BLOCKED = "#blocked"
"""Stands for a link that a value may not make: it leads nowhere."""

# fmt: off
SCHEMES = frozenset({
    "cid", "ftp", "ftps", "geo", "http", "https", "mailto", "maps", "market", "news", "sms",
    "tel", "webcal", "webcals", "whatsapp", "xmpp",
})
# fmt: on
"""Schemes that a value may give a link. Others have to be written in the template."""

LATER = {
    name: f"{{{{ {name} }}}}"
    for name in ("unsubscribe_url", "preferences_url", "confirm_url", "data_url")
}
"""Variables of every mail: each stands for itself until the mail is known."""

_SCRIPTS = frozenset({"javascript", "vbscript", "livescript", "mocha", "data", "about", "blob"})
_PICTURE = re.compile(
    r"data:image/(?:png|jpe?g|gif|webp|bmp);base64,[A-Za-z0-9+/=]*", re.IGNORECASE
)
# Browsers ignore these before a URL, and some of them within one.
_IGNORED = re.compile(
    r"[\x00-\x20\x7f-\xa0\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]+"
)
_DELIMITER = re.compile(r"[:/?#\\]")
_MAX_PREFIX = 40
_NOT_IN_SCRIPTS = re.compile(r"[^A-Za-z0-9_. -]+")
_ESCAPED = re.compile(r"%(?![0-9A-Fa-f]{2})")
# Characters with a meaning in URLs; % where it begins an escape.
_KEPT = frozenset("!#$%&'()*+,/:;=?@[]~-._" + ascii_letters + digits)
_USUAL = re.compile(r"[A-Za-z0-9!#$&'()*+,/:;=?@\[\]~._-]*")
_USUAL_LINK = re.compile(r"https?://[A-Za-z0-9._-]+(?:/[A-Za-z0-9!#$&'()*+,/:;=?@\[\]~._-]*)?")


class LinkPart(NamedTuple):
    """What was read of a URL.

    `part` is scheme, path, query or script. `prefix` is the text that may still become a scheme;
    `is_given`, whether a value is part of it. `is_value` tells that the query has had an =.
    """

    part: str = "scheme"
    prefix: str = ""
    is_given: bool = False
    is_value: bool = False


_PATH, _QUERY, _VALUE = LinkPart("path"), LinkPart("query"), LinkPart("query", is_value=True)


def read(link: LinkPart, text: str) -> tuple[LinkPart, bool]:
    """Read text of the template; the second result is true if it must be kept from becoming part
    of a scheme that a value began.
    """
    if link.part == "script":
        return link, False
    if link.part == "scheme":
        combined = _combined(link.prefix, text)
        found = _DELIMITER.search(combined)
        if found is None:
            return link._replace(prefix=combined[:_MAX_PREFIX]), False
        if found[0] == ":":
            scheme = combined[: found.start()]
            if link.is_given and scheme not in SCHEMES:
                return LinkPart("query"), True
            if scheme in _SCRIPTS:
                return LinkPart("script"), False
        link = LinkPart("path")
    return _read_on(link, text), False


def after_usual(value: str) -> LinkPart | None:
    """Return where a URL is after a value that is one, as nearly all are; None for others."""
    return None if _USUAL_LINK.fullmatch(value) is None else _read_on(_PATH, value)


def written(link: LinkPart, value: str, *, is_picture: bool = False) -> tuple[str, LinkPart]:
    """Return a value as a part of a URL, not yet escaped for HTML."""
    if link.part == "script":
        return _NOT_IN_SCRIPTS.sub("", value), link
    if link.part == "scheme":
        combined = _combined(link.prefix, value)
        found = _DELIMITER.search(combined)
        if not link.prefix:
            value = value.strip()
        if found is None:
            return normalized(value), LinkPart(
                "scheme", combined[:_MAX_PREFIX], is_given=bool(combined)
            )
        if found[0] == ":" and combined[: found.start()] not in SCHEMES:
            if is_picture and not link.prefix and _PICTURE.fullmatch(value):
                return value, LinkPart("path")
            return BLOCKED, LinkPart("query")
        if not link.prefix and found[0] == "\\":
            value = value.lstrip("\\/")  # \\host is the host of another scheme to browsers
        return normalized(value), _read_on(_PATH, value)
    if link.part == "query" and link.is_value:
        return quote(_ESCAPED.sub("%25", value), safe="%~", errors="replace"), link
    return normalized(value), _read_on(link, value)


def is_usual(value: str) -> bool:
    """Return whether all characters of a value are those of URLs, and none is a percent sign."""
    return _USUAL.fullmatch(value) is not None


def normalized(value: str) -> str:
    """Return a URL without characters that have no place in one; escapes stay as they are."""
    if is_usual(value):
        return value
    return "".join(
        char
        if char in _KEPT or (char > "\xa0" and char.isprintable())
        else quote(char, safe="", errors="replace")
        for char in _ESCAPED.sub("%25", value)
    )


def _combined(prefix: str, text: str) -> str:
    return prefix + _IGNORED.sub("", text[:4096]).lower()


def _read_on(link: LinkPart, text: str) -> LinkPart:
    """Return where a URL is after text behind its scheme."""
    if link.part != "query" and "?" not in text and "#" not in text:
        return _PATH
    at = max(map(text.rfind, "=&?#;"))
    is_value = link.is_value if at < 0 else text[at] == "="
    return _VALUE if is_value else _QUERY
