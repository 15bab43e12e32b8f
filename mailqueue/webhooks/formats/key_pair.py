"""Key pairs that sign requests: ECDSA on the curve P-256, with SHA-256."""

import base64

from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDSA,
    SECP256R1,
    EllipticCurvePrivateKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_der_private_key,
)

from mailqueue.core.secret import Secret


def new_pair() -> Secret:
    """Return the base64 of the DER of a new private key, in PKCS 8."""
    der = generate_private_key(SECP256R1()).private_bytes(
        Encoding.DER, PrivateFormat.PKCS8, NoEncryption()
    )
    return Secret(base64.b64encode(der).decode())


def private_key_of(secret: Secret) -> bytes:
    """Return the DER of a private key."""
    return base64.b64decode(secret.reveal())


def public_key_of(secret: Secret) -> str:
    """Return the base64 of the DER of the public key that belongs to a private key."""
    public = _loaded(private_key_of(secret)).public_key()
    der = public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return base64.b64encode(der).decode()


def signature_of(der: bytes, signed: bytes) -> str:
    """Return the base64 of a signature by a private key, given as DER."""
    return base64.b64encode(_loaded(der).sign(signed, ECDSA(SHA256()))).decode()


def _loaded(der: bytes) -> EllipticCurvePrivateKey:
    key = load_der_private_key(der, None)
    assert isinstance(key, EllipticCurvePrivateKey), "new_pair makes keys of this type only"
    return key
