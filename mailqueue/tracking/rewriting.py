"""Rewrite the links of a mail's HTML, and insert markup at its end. Pure.

Everything else stays as written, including comments for Outlook.
"""

import re
from collections import deque
from collections.abc import Callable, Collection
from functools import lru_cache
from urllib.parse import urlsplit

from mailqueue.tracking.urls import PATHS

MAX_URL_CHARACTERS = 8192
OPTION = "data-track"
_LINKS = "a[href], area[href]"
_OPTED = f"[{OPTION}]"
_EDGES = "".join(map(chr, range(33)))  # WHATWG URL, 4.4: C0 controls and spaces around it
_INNER = dict.fromkeys(map(ord, "\t\n\r"))  # and these within it are not part of an address
_WEB = re.compile(r"https?://", re.IGNORECASE)
_LEAVING = re.compile(r"unsubscribe|opt-?_?out", re.IGNORECASE)
_AMP = re.compile(r"<html\b[^<>]*(?:\u26a14email|amp4email)", re.IGNORECASE)
_ENDS = re.compile(r"</(?:body|html)\s*>", re.IGNORECASE)
_SCRIPT = re.compile(r"</(?:script|style|textarea|title)\b", re.IGNORECASE)

_MAX_END_TAGS = 1_000
"""Closing tags that are searched, from the end of the document."""

Lead = Callable[[str], str]
"""Returns the URL that replaces a link's URL."""


def is_amp(html: str) -> bool:
    """Return whether a document is AMP for email, whose links and pictures must stay as
    they are.
    """
    return "4email" in html and _AMP.search(html[:4096]) is not None


def rewritten(
    html: str, lead: Lead, *, base: str, left: Collection[str] = (), has_clicks: bool = True
) -> str:
    """Return HTML with its links to web pages rewritten, and the per-link option taken
    out.

    Left as they are: links that say data-track="off", what is no web page (mail, telephone,
    places in the same page), links of ours, links by which people unsubscribe, and those of `left`.
    """
    # Imported on use: this import takes longer than all others of a command.
    from turbohtml.rewrite import Element, rewrite

    ours = tuple(f"{base}{path}" for path in PATHS.values())

    def follow(element: Element) -> None:
        if _is_off(element):
            return
        url = web_address(element.get("href"))
        if url is None or url in left or url.startswith(ours) or is_leaving(url):
            return
        element.set_attribute("href", lead(url))

    def tidy(element: Element) -> None:
        element.remove_attribute(OPTION)

    handlers = [(_LINKS, follow)] if has_clicks else []
    return rewrite(html, elements=[*handlers, (_OPTED, tidy)])


def web_address(href: object) -> str | None:
    """Return the URL of a link to a web page, as a browser reads it; None for other links."""
    return _web_address(href) if isinstance(href, str) else None


@lru_cache(maxsize=4096)  # mails from one template have the same links
def _web_address(href: str) -> str | None:
    url = href.strip(_EDGES).translate(_INNER)
    if not _WEB.match(url) or len(url) > MAX_URL_CHARACTERS:
        return None
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    if not parts.hostname or "@" in parts.netloc or "{{" in url or not url.isprintable():
        return None  # a URL with a login is private; braces are placeholders of another system
    return url


@lru_cache(maxsize=4096)
def is_leaving(url: str) -> bool:
    """Return whether a link is for unsubscribing; those are never rewritten."""
    return _LEAVING.search(url) is not None


def with_at_end(html: str, markup: str) -> str:
    """Return HTML with markup inserted at the end of its body."""
    place = html.rfind("</body>")
    if place >= 0 and not html[place + 7 :].replace("</html>", "").strip():
        return html[:place] + markup + html[place:]  # most documents end like this
    last_script = max((found.start() for found in _SCRIPT.finditer(html)), default=-1)
    place = opened = closed = seen = len(html)  # where the next comment begins, or ends
    for found in reversed(deque(_ENDS.finditer(html), maxlen=_MAX_END_TAGS)):
        end = found.end()
        if (at := html.find("<!--", end, seen + 3)) >= 0:
            opened = at
        if (at := html.find("-->", end, seen + 2)) >= 0:
            closed = at
        if closed + 3 <= opened or last_script >= end:
            break  # inside a comment or script: not a closing tag
        place, seen = found.start(), end
    return html[:place] + markup + html[place:]


def _is_off(element: object) -> bool:
    value = element.get(OPTION)  # type: ignore[attr-defined]
    return isinstance(value, str) and value.strip().lower() in ("off", "false", "no", "0")
