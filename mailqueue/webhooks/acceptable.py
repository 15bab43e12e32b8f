"""Validate the URL, event types and description of a webhook. Pure.

Whether a name leads into a private network is checked at each connection, as DNS may change.
"""

import re
from collections.abc import Collection, Sequence
from urllib.parse import unquote, urlsplit

from mailqueue.core.errors import InvalidField
from mailqueue.core.outbound_guard import IpNetwork, is_off_limits, normal_host
from mailqueue.webhooks.formats.model import WebhookFormat
from mailqueue.webhooks.formats.standard import MAILQUEUE_FORMAT
from mailqueue.webhooks.model import EventType

MAX_URL_CHARACTERS = 2000
MAX_DESCRIPTION_CHARACTERS = 500
# Below 1024 only the usual two. Above, ports of services that could take a request for theirs.
_DEFAULT_PORTS = frozenset({80, 443})
_REFUSED_PORTS = frozenset(
    {1080, 1433, 1521, 1719, 1720, 1723, 2049, 2375, 2376, 2379, 3128, 3306, 3389, 3659, 4045}
    | {4190, 5060, 5061, 5432, 5433, 6000, 6379, 6432, 6566, 6665, 6666, 6667, 6668, 6669, 6679}
    | {6697, 9042, 9092, 9200, 9300, 10080, 11211, 25565, 27017, 50051}
)
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def url_of(text: str, *, allowed: Collection[IpNetwork]) -> str:
    """Return a valid URL; `allowed` are the private networks that the operator allowed.

    http:// is valid only where there are such networks.

    Raises:
        InvalidField: the URL is not allowed; the message says why.
    """
    if len(text) > MAX_URL_CHARACTERS:
        raise InvalidField("url", f"must have at most {MAX_URL_CHARACTERS} characters")
    if not text.isascii() or not text.isprintable() or re.search(r'[\s\\"<>`{}|^]', text):
        raise InvalidField("url", "holds characters that a URL has only in their %-encoded form")
    schemes = ("https", "http") if allowed else ("https",)
    try:
        parts = urlsplit(text)
        if parts.scheme not in schemes:
            raise InvalidField("url", "must begin with https://")
        host, port = parts.hostname or "", parts.port
        plain = f"[{host}]" if ":" in host else host
        normal = normal_host(plain)
    except ValueError as exc:
        raise InvalidField("url", str(exc)) from None
    if "@" in parts.netloc:
        raise InvalidField("url", "must not hold a user name or password")
    if "#" in text:
        raise InvalidField("url", "must not hold a fragment (#)")
    if port is not None and (port in _REFUSED_PORTS or _is_low(port)):
        raise InvalidField("url", f"port {port} is not a port of web servers")
    if is_off_limits(normal, allowed):
        raise InvalidField(
            "url",
            f"{normal} is not a public address; an operator can allow its network with "
            "MAILQUEUE_ALLOWED_HOSTS",
        )
    return text


def _is_low(port: int) -> bool:
    return port < 1024 and port not in _DEFAULT_PORTS


def without_login(text: str) -> tuple[str, str | None]:
    """Return a URL without user name and password, and these, separated by a colon, None if it
    has none.
    """
    scheme, slashes, rest = text.partition("://")
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    login, at, host = authority.rpartition("@")
    if not slashes or not at or ":" not in login:
        return text, None
    user, _, password = login.partition(":")
    place = f"{scheme}://{host}{rest[len(authority) :]}"
    return place, f"{unquote(user)}:{unquote(password)}"


def event_types_of(texts: Sequence[str], form: WebhookFormat = MAILQUEUE_FORMAT) -> list[str]:
    """Return valid event types; an empty list stands for all. In the format of a provider, all are
    those that it has.

    Raises:
        InvalidField: a type is unknown, or the format does not have it.
    """
    known = {one.value for one in EventType}
    for one in texts:
        if one not in known:
            names = ", ".join(sorted(known))
            raise InvalidField("event_types", f"there is no type {one[:100]!r}; these are: {names}")
        if one not in form.types:
            names = ", ".join(sorted(form.types))
            why = f"format {form.name} has no type {one}; it has: {names}"
            raise InvalidField("event_types", why)
    if form.write is not None and not texts:
        return sorted(form.types)
    return sorted(set(texts))


def description_of(text: str | None) -> str | None:
    """Return a valid description.

    Raises:
        InvalidField: it is too long, or holds control characters.
    """
    if not text:
        return None
    if len(text) > MAX_DESCRIPTION_CHARACTERS:
        raise InvalidField(
            "description", f"must have at most {MAX_DESCRIPTION_CHARACTERS} characters"
        )
    if _UNSEEN.search(text):
        raise InvalidField("description", "must not hold control characters")
    return text
