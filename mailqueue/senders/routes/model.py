"""Values of routing rules."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NewRoute:
    """A requested rule; a field that is None matches all mail. The database validates it.

    `domain` is a recipient domain such as `example.com`, or `*.example.com` for its subdomains.
    """

    accounts: tuple[str, ...]  # names, in the order they are tried
    category: str | None = None
    tag: str | None = None
    domain: str | None = None
    position: int | None = None  # None: after all others
    note: str | None = None
