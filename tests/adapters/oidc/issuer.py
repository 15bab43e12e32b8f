"""An OpenID Connect issuer on loopback: HTTP, rotating keys, and invalid or slow responses.

It signs with the cryptography package alone, so that what reads its tokens is judged by another.
"""

import asyncio
import base64
import json
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from tests.adapters.sending.fake import SILENT, FakeReply, says

WELL_KNOWN = "/.well-known/openid-configuration"
AUDIENCE = "mailqueue-api"


@dataclass(frozen=True, slots=True)
class Key:
    """A key pair with its id and algorithm."""

    kid: str
    alg: str
    public: dict[str, str]
    sign: Callable[[bytes], bytes]

    @property
    def jwk(self) -> dict[str, Any]:
        return {"kid": self.kid, "alg": self.alg, "use": "sig", **self.public}


@lru_cache
def rsa_key(kid: str, *, bits: int = 2048) -> Key:
    private = rsa.generate_private_key(public_exponent=65537, key_size=bits)
    numbers = private.public_key().public_numbers()
    public = {"kty": "RSA", "n": encoded(_octets(numbers.n)), "e": encoded(_octets(numbers.e))}
    return Key(
        kid, "RS256", public, lambda data: private.sign(data, padding.PKCS1v15(), hashes.SHA256())
    )


@lru_cache
def ec_key(kid: str) -> Key:
    private = ec.generate_private_key(ec.SECP256R1())
    point = private.public_key().public_numbers()

    def sign(data: bytes) -> bytes:
        r, s = decode_dss_signature(private.sign(data, ec.ECDSA(hashes.SHA256())))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")

    x, y = (encoded(number.to_bytes(32, "big")) for number in (point.x, point.y))
    return Key(kid, "ES256", {"kty": "EC", "crv": "P-256", "x": x, "y": y}, sign)


@lru_cache
def ed_key(kid: str, *, alg: str = "EdDSA") -> Key:
    private = ed25519.Ed25519PrivateKey.generate()
    public = {"kty": "OKP", "crv": "Ed25519", "x": encoded(private.public_key().public_bytes_raw())}
    return Key(kid, alg, public, private.sign)


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _octets(number: int) -> bytes:
    return number.to_bytes((number.bit_length() + 7) // 8, "big")


def written(header: Any, claims: Any, sign: Callable[[bytes], bytes]) -> str:
    """Return a token of any header, claims and signature; texts are used unchanged."""
    parts = [each if isinstance(each, str) else json.dumps(each) for each in (header, claims)]
    signed = ".".join(encoded(part.encode()) for part in parts)
    return f"{signed}.{encoded(sign(signed.encode()))}"


@dataclass(slots=True)
class Issuer:
    """The documents it publishes, and the requests it received; `replies` by path override them."""

    port: int = 0
    keys: list[dict[str, Any]] = field(default_factory=list)
    replies: dict[str, FakeReply] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)
    """Bodies of the requests with POST."""

    @property
    def name(self) -> str:
        return f"http://127.0.0.1:{self.port}/realms/staff"

    def claims(self, **other: Any) -> dict[str, Any]:
        """Return the claims of a valid token; None leaves a claim out."""
        now = int(time.time())
        usual = {
            "iss": self.name,
            "aud": AUDIENCE,
            "sub": "user-1",
            "iat": now,
            "nbf": now,
            "exp": now + 300,
            "roles": ["mailqueue-admin"],
            "preferred_username": "ann",
        }
        return {name: value for name, value in (usual | other).items() if value is not None}

    def token(self, key: Key, **claims: Any) -> str:
        return written({"alg": key.alg, "kid": key.kid}, self.claims(**claims), key.sign)

    def answer(self, path: str) -> FakeReply:
        if path in self.replies:
            return self.replies[path]
        if path == f"/realms/staff{WELL_KNOWN}":
            return says(200, {"issuer": self.name, "jwks_uri": f"{self.name}/keys?of=staff"})
        if path == "/realms/staff/keys?of=staff":
            return says(200, {"keys": self.keys})
        return says(404, {})


Served = TypeVar("Served", bound=Issuer)


@asynccontextmanager
async def issuing(*keys: Key) -> AsyncIterator[Issuer]:
    """Run an issuer with these keys."""
    async with serving(Issuer(keys=[key.jwk for key in keys])) as issuer:
        yield issuer


@asynccontextmanager
async def serving(issuer: Served) -> AsyncIterator[Served]:
    """Run an issuer."""
    waiting: set[asyncio.StreamWriter] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        method, path, _ = head.split(" ", 2)
        issuer.asked.append(path)
        if method == "POST":
            length = re.search(r"content-length: (\d+)", head.lower())
            issuer.bodies.append(
                (await reader.readexactly(int(length[1] if length else 0))).decode()
            )
        reply = issuer.answer(path)
        if reply is SILENT:
            waiting.add(writer)
            return
        writer.write(reply.octets())
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        issuer.port = server.sockets[0].getsockname()[1]
        yield issuer
        for writer in waiting:
            writer.close()
