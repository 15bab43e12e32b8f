"""Compare the secrets of a request in constant time. Pure."""

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Iterable
from datetime import datetime, timedelta

from mailqueue.ports.inbound import InboundRequest, Refused, Secrets

SECRET_HEADER = "x-mailqueue-secret"  # noqa: S105
SECRET_QUERY = "secret"  # noqa: S105
_SECONDS = re.compile(r"[0-9]{1,12}")


def is_one_of(given: str, secrets: Iterable[str]) -> bool:
    """Return whether a text is one of these, all of which are looked at."""
    octets = given.encode("utf-8", "surrogatepass")
    is_known = False
    for secret in secrets:
        is_known |= bool(secret) & hmac.compare_digest(
            octets, secret.encode("utf-8", "surrogatepass")
        )
    return is_known


def seconds_of(written: str) -> int | None:
    """Return a moment in seconds since 1970 as headers carry it, None for anything else."""
    return int(written) if _SECONDS.fullmatch(written) and written.isascii() else None


def is_fresh(seconds: int, now: datetime, *, past: timedelta, ahead: timedelta) -> bool:
    """Return whether a moment lies within the window around now."""
    age = now.timestamp() - seconds
    return -ahead.total_seconds() <= age <= past.total_seconds()


def base64_of(text: str) -> bytes | None:
    """Return what standard base64 says, None for anything else, other spellings included."""
    try:
        octets = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return octets if base64.b64encode(octets).decode() == text else None


def digest_of(*texts: str | bytes) -> str:
    """Return a short name for texts, another one for any others."""
    hashed = hashlib.sha256()
    for one in texts:
        octets = one if isinstance(one, bytes) else one.encode("utf-8", "surrogatepass")
        hashed.update(len(octets).to_bytes(8))
        hashed.update(octets)
    return hashed.hexdigest()[:40]


def refusal_by_secret(request: InboundRequest, secrets: Secrets) -> Refused | None:
    """Check what a provider without signatures was told to send along; None: it is right.

    Basic authentication where a password was given, a secret in a header or the query where a
    secret was given, both where both were. The header's name is a setting.
    """
    if secrets.password is None and not any(secrets.signing):
        return Refused("the account has no password and no secret for webhooks")
    if secrets.password is not None:
        scheme, _, value = request.headers.get("authorization", "").partition(" ")
        basic = base64_of(value.strip()) if scheme.lower() == "basic" else None
        wanted = f"{secrets.user or ''}:{secrets.password}"
        if not is_one_of((basic or b"").decode("utf-8", "replace"), (wanted,)):
            return Refused("Basic authentication is missing or wrong")
    if any(secrets.signing):
        name = str(secrets.settings.get("header") or SECRET_HEADER).lower()
        given = request.headers.get(name) or request.query.get(SECRET_QUERY, "")
        if not is_one_of(given, secrets.signing):
            return Refused(f"the secret in {name} is missing or wrong")
    return None
