"""Checks the claims of a verified token: audience, time, role and login. Pure.

Follows RFC 7519 section 4.1, RFC 8725 and OpenID Connect Core 1.0 sections 2 and 3.1.3.7; read in
November 2026.
"""

import base64
import hashlib
import hmac
import math
from typing import Any

from mailqueue.settings.oidc import OidcSettings

LEEWAY_SECONDS = 60
"""Seconds of clock difference that are tolerated."""
MAX_AGE_SECONDS = 600
"""Seconds since the issue of an ID token that still proves a login."""
_MAX_NAME_CHARACTERS = 200
_MAX_VALUES = 1000


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


def login_fault_of(
    claims: dict[str, Any], settings: OidcSettings, *, nonce: str, now: float
) -> str | None:
    """Return why the claims of an ID token do not prove the login with this nonce, or None."""
    if (fault := fault_of(claims, settings, now=now)) is not None:
        return fault
    audience, party = claims["aud"], claims.get("azp")
    if isinstance(audience, list) and len(audience) > 1 and party is None:
        return "it has several audiences (aud) and no authorized party (azp)"
    if party is not None and party != settings.audience:
        return "its authorized party (azp) is another client"
    given = claims.get("nonce")
    if not isinstance(given, str) or not hmac.compare_digest(given.encode(), nonce.encode()):
        return "it belongs to another login (nonce)"
    made = _instant(claims, "iat")
    if made is None or not now < made + MAX_AGE_SECONDS + LEEWAY_SECONDS:
        return "it was issued too long ago (iat)"
    return None


def is_of_access_token(claims: dict[str, Any], access_token: str, alg: str) -> bool:
    """Return whether an ID token was issued together with an access token; it need not say so."""
    if "at_hash" not in claims:
        return True
    digest = hashlib.new("sha512" if alg.startswith("Ed") else "sha256", access_token.encode())
    half = digest.digest()[: digest.digest_size // 2]
    wanted = base64.urlsafe_b64encode(half).rstrip(b"=").decode()
    given = claims["at_hash"]
    return isinstance(given, str) and hmac.compare_digest(given.encode(), wanted.encode())


def logged_in_at(claims: dict[str, Any]) -> float | None:
    """Return when the user last proved to the issuer who it is, in Unix seconds; None if unsaid."""
    found = _instant(claims, "auth_time")
    return None if found is None or math.isnan(found) else found


def has_role(claims: dict[str, Any], settings: OidcSettings) -> bool:
    """Return whether the configured role is in the role claim."""
    return settings.role in values_of(claims, settings.role_claim)


def values_of(claims: dict[str, Any], name: str) -> frozenset[str]:
    """Return the values of a claim, such as roles or groups.

    The claim is looked up by its whole name, then as a path of names separated by dots. Its value
    is a list, a text of words, or an object with the values as keys. An email address that the
    issuer has not verified is none.
    """
    found = at(claims, name)
    if name == "email" and claims.get("email_verified") not in (True, "true"):
        return frozenset()
    match found:
        case str():
            return frozenset(found.split()[:_MAX_VALUES])
        case list() | dict():
            return frozenset([each for each in found if isinstance(each, str)][:_MAX_VALUES])
        case _:
            return frozenset()


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


def at(claims: dict[str, Any], path: str) -> Any:
    """Return the value of a claim by its name or path; None if it is absent."""
    if path in claims:
        return claims[path]
    found: Any = claims
    for name in path.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found
