"""Values of routing rules."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class NewRoute:
    """A requested rule; a field that is None matches all mail. The database validates it.

    `domain` is a recipient domain such as `example.com`, or `*.example.com` for its subdomains.
    """

    senders: tuple[str, ...]  # in the order they are tried
    category: str | None = None
    tag: str | None = None
    domain: str | None = None
    position: int | None = None  # None: after all others
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Route:
    """A stored routing rule."""

    project: str
    rule_id: int
    position: int
    category: str | None
    tag: str | None
    domain: str | None
    senders: list[str]
    note: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Candidate:
    """An account that could send a mail, by a rule or, with None, by none, and what prevents it."""

    rule_id: int | None
    sender: str
    is_fallback: bool
    blocked_reason: str | None
    blocked_until: datetime | None
