"""Settings of OpenID Connect for administrators: the issuer and the required claims. Values."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from mailqueue.settings.tracking import is_here

DEFAULT_ROLE_CLAIM = "roles"
DEFAULT_ROLE = "mailqueue-admin"


@dataclass(frozen=True, slots=True)
class OidcSettings:
    """An OpenID Connect issuer, and the claims that its tokens must have."""

    issuer: str
    audience: str
    role_claim: str = DEFAULT_ROLE_CLAIM  # a name, or a path of names separated by dots
    role: str = DEFAULT_ROLE


def parse_issuer(text: str) -> str:
    """Return an issuer URL unchanged: https, or http on this host.

    Raises:
        ValueError: it is not such a URL, or has a query or fragment.
    """
    check_address(text)
    if urlsplit(text).query:
        raise ValueError("must be https://host/path, exactly as in the iss claim of its tokens")
    return text


def check_address(url: str) -> None:
    """Refuse a URL from which keys must not be fetched: http on another host, with a login.

    Raises:
        ValueError: the message says why.
    """
    if not url.isascii() or not url.isprintable() or re.search(r"[\s\\]", url) or len(url) > 2000:
        raise ValueError("must be an https URL without invalid characters")
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and is_here(parts.hostname)):
        raise ValueError("must begin with https:// (http:// on this host only)")
    if "@" in parts.netloc or parts.fragment or "#" in url or not parts.hostname:
        raise ValueError("must have a host, and no login or fragment")
