"""An authenticator in software: makes passkeys with attestation "none", and signs challenges."""

import json
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

import cbor2
from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDSA,
    SECP256R1,
    EllipticCurvePrivateKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.hashes import SHA256

PRESENT, VERIFIED, WITH_KEY = 0x01, 0x04, 0x40


def text(content: bytes) -> str:
    return urlsafe_b64encode(content).decode().rstrip("=")


def content(encoded: str) -> bytes:
    return urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4))


def _key() -> EllipticCurvePrivateKey:
    return generate_private_key(SECP256R1())


@dataclass(frozen=True, slots=True)
class Authenticator:
    """One passkey on a device, and what the device and the browser say beside it."""

    origin: str
    rp_id: str
    user_handle: bytes | None = None
    credential_id: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    key: EllipticCurvePrivateKey = field(default_factory=_key)
    flags: int = PRESENT | VERIFIED
    count: int = 1

    def but(self, **changes: Any) -> "Authenticator":
        """Return one that says something else."""
        return replace(self, **changes)

    def make(self, options: dict[str, Any], **client: Any) -> tuple["Authenticator", str]:
        """Return the authenticator with its passkey, and the answer to a request to make it."""
        made = replace(self, user_handle=content(options["user"]["id"]))
        numbers = self.key.public_key().public_numbers()
        cose = {
            1: 2,
            3: -7,
            -1: 1,
            -2: numbers.x.to_bytes(32, "big"),
            -3: numbers.y.to_bytes(32, "big"),
        }
        data = self._data(self.flags | WITH_KEY) + bytes(16)
        data += len(self.credential_id).to_bytes(2, "big") + self.credential_id + cbor2.dumps(cose)
        attested = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
        said = self._client("webauthn.create", options["challenge"], client)
        response = {
            "clientDataJSON": text(said),
            "attestationObject": text(attested),
            "transports": ["internal", "from the future"],
        }
        return made, json.dumps(self._named() | {"response": response})

    def sign(self, options: dict[str, Any], **client: Any) -> str:
        """Return the answer to a challenge."""
        said = self._client("webauthn.get", options["challenge"], client)
        data = self._data(self.flags)
        response = {
            "clientDataJSON": text(said),
            "authenticatorData": text(data),
            "signature": text(self.key.sign(data + sha256(said).digest(), ECDSA(SHA256()))),
        }
        if self.user_handle is not None:
            response["userHandle"] = text(self.user_handle)
        return json.dumps(self._named() | {"response": response})

    def _named(self) -> dict[str, str]:
        name = text(self.credential_id)
        return {"id": name, "rawId": name, "type": "public-key"}

    def _data(self, flags: int) -> bytes:
        return sha256(self.rp_id.encode()).digest() + bytes([flags]) + self.count.to_bytes(4, "big")

    def _client(self, kind: str, challenge: str, changes: dict[str, Any]) -> bytes:
        said = {"type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": False}
        return json.dumps(said | changes).encode()
