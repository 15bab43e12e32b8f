"""Checks the claims of a verified token: audience, time and role. Pure.

Follows RFC 7519 section 4.1 and RFC 8725; read in November 2026.
"""

import math
from typing import Any

from mailqueue.settings.oidc import OidcSettings

LEEWAY_SECONDS = 60
"""Seconds of clock difference that are tolerated."""
_MAX_NAME_CHARACTERS = 200


def fault_of(claims: dict[str, Any], settings: OidcSettings, *, now: float) -> str | None:
    """Return why claims are invalid, or None if they are valid; `now` is in Unix seconds."""
    if claims.get("iss") != settings.issuer:
        return "its issuer (iss) is not the configured one"
    audience = claims.get("aud")
    if settings.audience not in (audience if isinstance(audience, list) else [audience]):
        return "its audience (aud) is not the configured one"
    if not (
        isinstance(subject := claims.get("sub"), str) and 0 < len(subject) <= _MAX_NAME_CHARACTERS
    ):
        return "it has no subject (sub)"
    ends, begins, made = (_instant(claims, name) for name in ("exp", "nbf", "iat"))
    if ends is None or math.isnan(ends):
        return "it has no expiry (exp)"
    if now >= ends + LEEWAY_SECONDS:
        return "it has expired"
    if begins is not None and not now >= begins - LEEWAY_SECONDS:
        return "it is not valid yet"
    if made is not None and not now >= made - LEEWAY_SECONDS:
        return "its time of issue (iat) is in the future"
    return None


def has_role(claims: dict[str, Any], settings: OidcSettings) -> bool:
    """Return whether the configured role is in the role claim.

    The claim is looked up by its whole name, then as a path of names separated by dots. Its value
    is a list, a text of words, or an object with roles as keys.
    """
    found = _at(claims, settings.role_claim)
    match found:
        case str():
            return settings.role in found.split()
        case list() | dict():
            return settings.role in found
        case _:
            return False


def called(claims: dict[str, Any]) -> str | None:
    """Return the display name of a token; it is not used for identification."""
    for name in ("preferred_username", "email", "name", "client_id"):
        given = claims.get(name)
        if isinstance(given, str) and given and given.isprintable():
            return given[:_MAX_NAME_CHARACTERS]
    return None


def _instant(claims: dict[str, Any], name: str) -> float | None:
    """Return a time claim in Unix seconds, None if absent, NaN if it is not a number."""
    if name not in claims:
        return None
    given = claims[name]
    if isinstance(given, bool) or not isinstance(given, int | float):
        return math.nan
    try:
        return float(given) if math.isfinite(given) else math.nan
    except OverflowError:
        return math.nan


def _at(claims: dict[str, Any], path: str) -> Any:
    if path in claims:
        return claims[path]
    found: Any = claims
    for name in path.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found
