"""Requests of providers with their signatures."""

import base64
import hmac
import json
from datetime import UTC, datetime
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from mailqueue.ports.inbound import (
    InboundProvider,
    InboundRequest,
    ProviderEvent,
    VerificationSecrets,
)

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
SECONDS = "1767323045"
MAIL = "0190aaaa-bbbb-7ccc-8ddd-eeeeffff0001"

SVIX_SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
MAILGUN_KEY = "key-test-signing"
SCALAR = int.from_bytes(bytes.fromhex("1234567890abcdef") * 4)
SENDGRID_PRIVATE = ec.derive_private_key(SCALAR, ec.SECP256R1())
SENDGRID_PUBLIC = base64.b64encode(
    SENDGRID_PRIVATE.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
).decode()


def request(body: bytes | Any, **headers: str) -> InboundRequest:
    """Return a request; `_` in header names stands for `-`."""
    octets = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return InboundRequest("POST", named, {}, octets)


def only(provider: InboundProvider, body: bytes | Any, **headers: str) -> ProviderEvent:
    """Return the only event of a body."""
    [found] = provider.events(request(body, **headers))
    assert isinstance(found, ProviderEvent), found
    return found


def of_svix(body: bytes, *, seconds: str = SECONDS, message_id: str = "msg_1") -> InboundRequest:
    key = base64.b64decode(SVIX_SECRET.removeprefix("whsec_"))
    signed = f"{message_id}.{seconds}.".encode() + body
    signature = base64.b64encode(hmac.digest(key, signed, "sha256")).decode()
    return request(
        body, svix_id=message_id, svix_timestamp=seconds, svix_signature=f"v1,{signature}"
    )


def of_sendgrid(body: bytes, *, seconds: str = SECONDS) -> InboundRequest:
    signature = SENDGRID_PRIVATE.sign(seconds.encode() + body, ec.ECDSA(SHA256()))
    return request(
        body,
        x_twilio_email_event_webhook_signature=base64.b64encode(signature).decode(),
        x_twilio_email_event_webhook_timestamp=seconds,
    )


def of_mailgun(event: Any, *, seconds: str = SECONDS, token: str = "a" * 50) -> InboundRequest:
    signature = hmac.digest(MAILGUN_KEY.encode(), (seconds + token).encode(), "sha256").hex()
    signed = {"timestamp": seconds, "token": token, "signature": signature}
    return request({"signature": signed, "event-data": event})


def knowing(*signing: str, **more: Any) -> VerificationSecrets:
    return VerificationSecrets(signing=signing, **more)
