"""The preview of a mail: the beginning of what its reader sees and its sender wrote. Pure."""

import re
import unicodedata

from mailqueue.rendering.plain import visible_text_of

MAX_PREVIEW_CHARACTERS = 150
MAX_TEXT_CHARACTERS = 20_000
"""Characters of a text that are looked at."""
_QUOTES = (
    "blockquote, .gmail_quote, .gmail_attr, .moz-cite-prefix, .yahoo_quoted, #divRplyFwdMsg,"
    " #appendonsend"
)
_ATTRIBUTION = re.compile(
    r"^(on\b.{5,200}\bwrote|am\b.{5,200}\bschrieb\b.{0,100}|le\b.{5,200}\ba écrit"
    r"|el\b.{5,200}\bescribió)\s*:$",
    re.IGNORECASE,
)
_ORIGINAL = re.compile(
    r"^-{2,}\s*(original message|forwarded message|ursprüngliche nachricht|message d'origine)"
    r"\s*-{2,}$",
    re.IGNORECASE,
)


def preview_of_text(text: str) -> str:
    """Return the preview of a plain text: without quotes, and what follows a quoted header."""
    kept: list[str] = []
    lines = text[:MAX_TEXT_CHARACTERS].splitlines()
    for place, line in enumerate(lines):
        words = line.strip()
        both = f"{words} {lines[place + 1].strip()}" if place + 1 < len(lines) else words
        if _ORIGINAL.match(words) or line.rstrip("\r\n") == "-- ":
            break
        if words.startswith(">") or _ATTRIBUTION.match(words):
            continue
        if _ATTRIBUTION.match(both):  # a header that was wrapped
            lines[place + 1] = ""
            continue
        kept.append(words)
    return cut(" ".join(kept))


def preview_of_html(html: str) -> str:
    """Return the preview of HTML: without what is hidden or quoted."""
    return preview_of_text(visible_text_of(html, without=_QUOTES))


def cut(text: str) -> str:
    """Return the first characters of a text on one line, without those that are not seen."""
    seen = "".join(one for one in text if _is_seen(one))
    words = " ".join(seen.split())
    return words[:MAX_PREVIEW_CHARACTERS].rstrip()


def _is_seen(character: str) -> bool:
    # Controls but white space, formats such as zero-width spaces and marks of direction, fillers.
    kind = unicodedata.category(character)
    if kind in ("Cc", "Cf", "Cs", "Co", "Cn"):
        return character in "\t\n\r\u200d"
    return character not in "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
