"""Signatures of webhook calls: Standard Webhooks, and a plain HMAC. Pure.

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import base64
import binascii
import hashlib
import hmac
import os
from collections.abc import Sequence

from mailqueue.core.errors import InvalidField
from mailqueue.core.secret import Secret
from mailqueue.ports.webhook import WebhookHeaders

PREFIX = "whsec_"
MIN_SECRET_BYTES, MAX_SECRET_BYTES = 24, 64
_NEW_BYTES = 32
HIDDEN = frozenset(
    {
        "authorization",
        "svix-signature",
        "webhook-signature",
        "x-mailqueue-signature",
        "x-twilio-email-event-webhook-signature",
    }
)
"""Headers that the log does not keep."""


def new_secret() -> Secret:
    """Return a new random secret; the only function here that is not pure."""
    return Secret(PREFIX + base64.b64encode(os.urandom(_NEW_BYTES)).decode())


def secret_of(text: str) -> Secret:
    """Return a secret that a caller chose, validated.

    Raises:
        InvalidField: it is not `whsec_` and base64 of 24 to 64 bytes; it is not repeated.
    """
    try:
        octets = len(_decoded(text))
    except (ValueError, binascii.Error):
        octets = 0
    if not text.startswith(PREFIX) or not MIN_SECRET_BYTES <= octets <= MAX_SECRET_BYTES:
        size = f"{MIN_SECRET_BYTES} to {MAX_SECRET_BYTES}"
        why = f"must be {PREFIX} and the base64 of {size} random bytes"
        raise InvalidField("secret", why)
    return Secret(text)


def key_of(secret: Secret) -> bytes:
    """Return the HMAC key of a secret."""
    return _decoded(secret.reveal())


def headers_of(
    message_id: str,
    body: bytes,
    *,
    at: int,
    keys: Sequence[bytes],
    content_type: str = "application/json",
) -> WebhookHeaders:
    """Return the headers of one call, signed with every key, the current one first.

    `at` is the time of this attempt, in seconds since 1970.
    """
    return (
        ("Content-Type", content_type),
        ("Webhook-Id", message_id),
        ("Webhook-Timestamp", str(at)),
        ("Webhook-Signature", signatures_of(message_id, body, at=at, keys=keys)),
        ("X-Mailqueue-Signature", f"sha256={hmac.digest(keys[0], body, 'sha256').hex()}"),
    )


def signatures_of(message_id: str, body: bytes, *, at: int, keys: Sequence[bytes]) -> str:
    """Return the signatures of one call by every key, separated by spaces."""
    signed = f"{message_id}.{at}.".encode() + body
    return " ".join(f"v1,{_signature(key, signed)}" for key in keys)


def logged(headers: WebhookHeaders) -> dict[str, str]:
    """Return the headers as the log keeps them."""
    return {name.lower(): text for name, text in headers if name.lower() not in HIDDEN}


def _signature(key: bytes, signed: bytes) -> str:
    return base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()


def _decoded(text: str) -> bytes:
    return base64.b64decode(text.removeprefix(PREFIX), validate=True)
