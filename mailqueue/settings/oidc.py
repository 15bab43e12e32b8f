"""Whose signed tokens make an administrator: the issuer, and what its tokens must say. Values."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from mailqueue.settings.tracking import is_here

DEFAULT_ROLE_CLAIM = "roles"
DEFAULT_ROLE = "mailqueue-admin"


@dataclass(frozen=True, slots=True)
class OidcSettings:
    """An OpenID Connect issuer as its tokens name it, and what they must hold."""

    issuer: str
    audience: str
    role_claim: str = DEFAULT_ROLE_CLAIM  # a name, or names divided by dots for a claim inside one
    role: str = DEFAULT_ROLE


def parse_issuer(text: str) -> str:
    """Return an issuer as it is written: https, or http on this machine.

    Raises:
        ValueError: if it is no such address, or has a query or more.
    """
    check_address(text)
    if urlsplit(text).query:
        raise ValueError("must be https://host/path, as the issuer writes it in its tokens")
    return text


def check_address(url: str) -> None:
    """Refuse what keys are not fetched from: http beyond this machine, a login, odd characters.

    Raises:
        ValueError: the message says why.
    """
    if not url.isascii() or not url.isprintable() or re.search(r"[\s\\]", url) or len(url) > 2000:
        raise ValueError("must be an https address without odd characters")
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and is_here(parts.hostname)):
        raise ValueError("must begin with https:// (http:// only on this machine)")
    if "@" in parts.netloc or parts.fragment or "#" in url or not parts.hostname:
        raise ValueError("must hold a host, and no login or fragment")
