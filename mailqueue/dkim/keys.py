"""DKIM keys: algorithms, storage format and public values. Pure."""

import hashlib
from base64 import b64encode
from dataclasses import dataclass, field
from enum import StrEnum

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_der_private_key,
    load_pem_private_key,
)

RSA_BITS = 2048  # RFC 8301 3.2
_EXPONENT = 65537
_PADDING = PKCS1v15()
_SHA256 = SHA256()


class WrongKey(ValueError):
    """A private key that is given cannot be used."""


class Algorithm(StrEnum):
    """The signature algorithms, as in the a= tag."""

    RSA = "rsa-sha256"
    # RFC 8463; used together with RSA, as many receivers do not support it.
    ED25519 = "ed25519-sha256"

    @property
    def key_type(self) -> str:
        """Return the k= tag of its record."""
        return self.value.partition("-")[0]


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A loaded private key, with the selector and domain of its record."""

    domain: str
    selector: str
    algorithm: Algorithm
    private: RSAPrivateKey | Ed25519PrivateKey = field(repr=False)

    def sign(self, octets: bytes) -> bytes:
        """Return the signature of the canonical headers."""
        if isinstance(self.private, RSAPrivateKey):
            return self.private.sign(octets, _PADDING, _SHA256)
        # RFC 8463 3: the hash is signed.
        return self.private.sign(hashlib.sha256(octets).digest())


def new_private_key(algorithm: Algorithm) -> bytes:
    """Return a new private key as PKCS #8 in DER; RSA takes tenths of a second."""
    private: RSAPrivateKey | Ed25519PrivateKey
    if algorithm is Algorithm.RSA:
        private = generate_private_key(_EXPONENT, RSA_BITS)
    else:
        private = Ed25519PrivateKey.generate()
    return private.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())


def imported_rsa_key(pem: bytes) -> bytes:
    """Return an RSA key in PEM, checked, in the form of `new_private_key`; takes 40 ms.

    Raises:
        WrongKey: it is not an RSA key of 2,048 bits, or it is encrypted.
    """
    try:
        # Unchecked at first: checking a key of many thousand bits takes minutes.
        private = load_pem_private_key(pem, None, unsafe_skip_rsa_key_validation=True)
        if not isinstance(private, RSAPrivateKey) or private.key_size != RSA_BITS:
            raise WrongKey(f"must be an RSA key of {RSA_BITS} bits")
        load_pem_private_key(pem, None)
    except WrongKey:
        raise
    except (TypeError, ValueError, UnsupportedAlgorithm) as exc:
        raise WrongKey("is not a private key in PEM without a passphrase") from exc
    return private.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())


def load_private_key(der: bytes) -> RSAPrivateKey | Ed25519PrivateKey:
    """Return a private key that `new_private_key` created.

    Raises:
        ValueError: it is not such a key.
    """
    # The key was valid when it was created and is stored sealed: the check, which costs 36 ms, is
    # skipped.
    private = load_der_private_key(der, None, unsafe_skip_rsa_key_validation=True)
    if not isinstance(private, RSAPrivateKey | Ed25519PrivateKey):
        raise ValueError("the key is neither RSA nor Ed25519")
    return private


def public_value(der: bytes) -> str:
    """Return the p= tag of a private key: SubjectPublicKeyInfo for RSA, 32 bytes for Ed25519."""
    private = load_private_key(der)
    if isinstance(private, RSAPrivateKey):
        spki = PublicFormat.SubjectPublicKeyInfo
        octets = private.public_key().public_bytes(Encoding.DER, spki)
    else:
        octets = private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    return b64encode(octets).decode()
