"""Compares the secrets of a request in constant time. Pure."""

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Iterable
from datetime import datetime, timedelta

from mailqueue.ports.inbound import InboundRequest, NotVerified, VerificationSecrets

SECRET_HEADER = "x-mailqueue-secret"  # noqa: S105
SECRET_QUERY = "secret"  # noqa: S105
_SECONDS = re.compile(r"[0-9]{1,12}")


def is_one_of(value: str, secrets: Iterable[str]) -> bool:
    """Return whether a text equals one of the secrets; all are compared, in constant time."""
    octets = value.encode("utf-8", "surrogatepass")
    is_known = False
    for secret in secrets:
        is_known |= bool(secret) & hmac.compare_digest(
            octets, secret.encode("utf-8", "surrogatepass")
        )
    return is_known


def seconds_of(written: str) -> int | None:
    """Return seconds since 1970 from a header's text, or None if it is not a number."""
    return int(written) if _SECONDS.fullmatch(written) and written.isascii() else None


def is_fresh(seconds: int, now: datetime, *, past: timedelta, ahead: timedelta) -> bool:
    """Return whether a time is at most `past` before and `ahead` after `now`."""
    age = now.timestamp() - seconds
    return -ahead.total_seconds() <= age <= past.total_seconds()


def base64_of(text: str) -> bytes | None:
    """Return the bytes of canonical standard base64, or None for anything else."""
    try:
        octets = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return octets if base64.b64encode(octets).decode() == text else None


def digest_of(*texts: str | bytes) -> str:
    """Return a short digest of several texts, unambiguous about where each ends."""
    hashed = hashlib.sha256()
    for one in texts:
        octets = one if isinstance(one, bytes) else one.encode("utf-8", "surrogatepass")
        hashed.update(len(octets).to_bytes(8))
        hashed.update(octets)
    return hashed.hexdigest()[:40]


def refusal_by_secret(request: InboundRequest, secrets: VerificationSecrets) -> NotVerified | None:
    """Return a Refused if a request without a signature has a wrong password or secret, or None.

    Basic authentication is required if the account has a password, and a secret in a header or in
    the query if it has a secret; both if it has both. The header's name is a setting.
    """
    if secrets.password is None and not any(secrets.signing):
        return NotVerified("the account has no webhook password and no webhook secret")
    if secrets.password is not None:
        scheme, _, value = request.headers.get("authorization", "").partition(" ")
        pair = f"{secrets.user or ''}:{secrets.password}".encode("utf-8", "surrogatepass")
        basic = value.strip().encode("utf-8", "surrogatepass") if scheme.lower() == "basic" else b""
        if not hmac.compare_digest(basic, base64.b64encode(pair)):
            return NotVerified("Basic authentication is missing or wrong")
    if any(secrets.signing):
        name = str(secrets.settings.get("header") or SECRET_HEADER).lower()
        given = request.headers.get(name) or request.query.get(SECRET_QUERY, "")
        if not is_one_of(given, secrets.signing):
            return NotVerified(f"the secret in {name} is missing or wrong")
    return None
