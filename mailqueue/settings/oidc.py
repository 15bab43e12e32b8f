"""Settings of OpenID Connect: the issuer, its tokens for the API, logins to the console. Values.

Tokens for the API and logins have one issuer and one claim for roles.
"""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from mailqueue.core.outbound_guard import IpNetwork
from mailqueue.core.secret import Secret
from mailqueue.settings.tracking import is_here

DEFAULT_ROLE_CLAIM = "roles"
DEFAULT_ROLE = "mailqueue-admin"
DEFAULT_SCOPES = "openid profile email"
CONSOLE_ROLES = ("superadmin", "project_admin", "support", "viewer")
"""Roles of the console's users, the highest first."""
_SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")  # RFC 6749 section 3.3


@dataclass(frozen=True, slots=True)
class OidcSettings:
    """An OpenID Connect issuer, and the claims that its tokens must have."""

    issuer: str
    audience: str
    role_claim: str = DEFAULT_ROLE_CLAIM  # a name, or a path of names separated by dots
    role: str = DEFAULT_ROLE
    allowed_hosts: tuple[IpNetwork, ...] = ()  # private networks of the issuer


@dataclass(frozen=True, slots=True)
class GroupRule:
    """The role, and the projects, of users with one value of the role claim."""

    value: str
    role: str
    projects: tuple[str, ...] = ()  # empty: every project


@dataclass(frozen=True, slots=True)
class OidcLogin:
    """The client of an issuer by which people log in to the console."""

    issuer: str
    client_id: str
    rules: tuple[GroupRule, ...]
    client_secret: Secret | None = None  # None: a public client, which PKCE alone protects
    scopes: str = DEFAULT_SCOPES
    role_claim: str = DEFAULT_ROLE_CLAIM
    allowed_hosts: tuple[IpNetwork, ...] = ()


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


def parse_scopes(text: str) -> str:
    """Return the scopes of a login, separated by one space each.

    Raises:
        ValueError: one has invalid characters, or `openid` is missing.
    """
    scopes = text.split()
    if "openid" not in scopes or not all(_SCOPE.fullmatch(scope) for scope in scopes):
        raise ValueError("must be scopes separated by spaces, with openid among them")
    return " ".join(scopes)


def parse_rules(text: str) -> tuple[GroupRule, ...]:
    """Return the rules of a text such as `admins=superadmin; helpers=support:shop,blog`.

    Raises:
        ValueError: the message has the form of a rule.
    """
    return tuple(_rule(each.strip()) for each in text.split(";") if each.strip())


def _rule(text: str) -> GroupRule:
    value, _, granted = text.rpartition("=")
    role, _, names = granted.partition(":")
    projects = tuple(name.strip() for name in names.split(",") if name.strip())
    if not value.strip() or role.strip() not in CONSOLE_ROLES:
        raise ValueError(
            f"must be rules such as GROUP=ROLE:PROJECT,PROJECT with a role of "
            f"{', '.join(CONSOLE_ROLES)}, separated by semicolons, got {text[:100]!r}"
        )
    if role.strip() == "superadmin":
        if projects:
            raise ValueError(f"superadmin is a role for every project, got {text[:100]!r}")
    elif not projects:
        raise ValueError(f"must name projects, or * for all of them, got {text[:100]!r}")
    return GroupRule(value.strip(), role.strip(), () if "*" in projects else projects)
