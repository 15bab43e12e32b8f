"""URLs of our links in mail, and their placeholders in content. Pure."""

import re
from dataclasses import dataclass
from uuid import UUID

from mailqueue.tracking.tokens import Seals, Token, TokenKind

PATHS = {
    TokenKind.OPEN: "/t/o/",
    TokenKind.CLICK: "/t/c/",
    TokenKind.UNSUBSCRIBE: "/t/u/",
    TokenKind.PREFERENCES: "/pref/",
    TokenKind.CONFIRM: "/confirm/",
    TokenKind.DATA: "/data/",
}
UNSUBSCRIBE_URL = "unsubscribe_url"
PREFERENCES_URL = "preferences_url"
CONFIRM_URL = "confirm_url"
DATA_URL = "data_url"
NAMES = {
    UNSUBSCRIBE_URL: TokenKind.UNSUBSCRIBE,
    PREFERENCES_URL: TokenKind.PREFERENCES,
    CONFIRM_URL: TokenKind.CONFIRM,
    DATA_URL: TokenKind.DATA,
}
"""Placeholders of our links in content: variables of templates, and words in double braces
elsewhere.
"""

_PLACES = re.compile(r"\{\{\s*(unsubscribe_url|preferences_url|confirm_url|data_url)\s*\}\}")


@dataclass(frozen=True, slots=True)
class TrackingUrls:
    """Builds the links of a project's mail from a base URL and its seals."""

    base: str  # without a trailing slash
    seals: Seals

    def of(self, kind: TokenKind, email_id: UUID, link: bytes = b"") -> str:
        """Return a link of a mail; all recipients of a message share it."""
        return self.base + PATHS[kind] + self.seals.seal(Token(kind, email_id, 0, link))

    def named(self, email_id: UUID) -> dict[str, str]:
        """Return the links that content may name, by placeholder."""
        return {name: self.of(kind, email_id) for name, kind in NAMES.items()}


def names_any(*texts: str | None) -> bool:
    """Return whether a text has placeholders for our links."""
    # One character first: a cheap check, done for every mail.
    return any(
        text is not None and "{" in text and "_url" in text and _PLACES.search(text) is not None
        for text in texts
    )


def with_links(text: str, links: dict[str, str]) -> str:
    """Return a text with its placeholders replaced by our links."""
    return _PLACES.sub(lambda found: links[found[1]], text) if "_url" in text else text
