"""Signs requests to AWS services with Signature Version 4. Pure.

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
"""

import hashlib
import hmac
from dataclasses import dataclass
from datetime import datetime

from mailqueue.core.secret import Secret

ALGORITHM = "AWS4-HMAC-SHA256"


@dataclass(frozen=True, slots=True)
class AwsCredentials:
    """An access key; `token` is the session token of temporary keys."""

    key_id: str
    secret: Secret
    token: Secret | None = None


def signed_headers(
    credentials: AwsCredentials,
    *,
    method: str,
    host: str,
    path: str,
    body: bytes,
    content_type: str,
    region: str,
    service: str,
    at: datetime,
) -> tuple[tuple[str, str], ...]:
    """Return the headers that sign a request without a query; `at` is the time in UTC."""
    moment = f"{at:%Y%m%dT%H%M%SZ}"
    headers = {"content-type": content_type, "host": host, "x-amz-date": moment}
    if credentials.token is not None:
        headers["x-amz-security-token"] = credentials.token.reveal()
    names = ";".join(sorted(headers))
    request = canonical_request(method, path, headers=headers, body=body)
    scope = f"{at:%Y%m%d}/{region}/{service}/aws4_request"
    to_sign = "\n".join((ALGORITHM, moment, scope, hashlib.sha256(request.encode()).hexdigest()))
    key = signing_key(credentials.secret, at=at, region=region, service=service)
    signature = _mac(key, to_sign).hex()
    credential = f"Credential={credentials.key_id}/{scope}"
    authorization = f"{ALGORITHM} {credential}, SignedHeaders={names}, Signature={signature}"
    return (
        ("Content-Type", content_type),
        ("X-Amz-Date", moment),
        *([("X-Amz-Security-Token", credentials.token.reveal())] if credentials.token else []),
        ("Authorization", authorization),
    )


def canonical_request(method: str, path: str, *, headers: dict[str, str], body: bytes) -> str:
    """Return the canonical request, which both sides hash; header names in lower case."""
    lines = [f"{name}:{' '.join(headers[name].split())}" for name in sorted(headers)]
    names = ";".join(sorted(headers))
    digest = hashlib.sha256(body).hexdigest()
    return "\n".join((method, path, "", *lines, "", names, digest))


def signing_key(secret: Secret, *, at: datetime, region: str, service: str) -> bytes:
    """Derive the signing key of a day, region and service."""
    key = f"AWS4{secret.reveal()}".encode()
    for part in (f"{at:%Y%m%d}", region, service, "aws4_request"):
        key = _mac(key, part)
    return key


def _mac(key: bytes, text: str) -> bytes:
    return hmac.digest(key, text.encode(), "sha256")
