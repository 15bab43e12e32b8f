"""How a sealed value is laid out and what it is bound to. No I/O but the random nonce.

Layout, in bytes: version 1, data key id 16, nonce 12, ciphertext n, tag 16. AES-256-GCM
(NIST SP 800-38D); the associated data names version, project, table, column, row and data key, so
that a value moved to another place does not open.
"""

import os
from dataclasses import dataclass, field
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from mailqueue.core.errors import SealBroken

VERSION = b"\x01"
KEY_BYTES = 32
NONCE_BYTES = 12
TAG_BYTES = 16
_ID_END = 1 + 16
_NONCE_END = _ID_END + NONCE_BYTES
MIN_SEALED_BYTES = _NONCE_END + TAG_BYTES


@dataclass(frozen=True, slots=True)
class Place:
    """Where a sealed value stands: it opens there and nowhere else."""

    project_id: UUID
    table: str
    column: str
    row_id: UUID | int | str


@dataclass(frozen=True, slots=True)
class DataKey:
    """One project's key for sealing values."""

    id: UUID
    project_id: UUID
    key: bytes = field(repr=False)


def seal_with(data_key: DataKey, place: Place, plaintext: bytes) -> bytes:
    """Encrypt `plaintext` for one place; twice the same text gives different bytes."""
    return encrypt(data_key, place, plaintext, nonce=os.urandom(NONCE_BYTES))


def encrypt(data_key: DataKey, place: Place, plaintext: bytes, *, nonce: bytes) -> bytes:
    """Lay out one sealed value. Never use a nonce twice under one key."""
    ciphertext = AESGCM(data_key.key).encrypt(nonce, plaintext, bound_to(place, data_key.id))
    return VERSION + data_key.id.bytes + nonce + ciphertext


def open_with(data_key: DataKey, place: Place, sealed: bytes) -> bytes:
    """Decrypt what stands in `place`.

    Raises:
        SealBroken: whatever is wrong; it never says what.
    """
    if data_key_id(sealed) != data_key.id or data_key.project_id != place.project_id:
        raise broken(place)
    nonce, ciphertext = sealed[_ID_END:_NONCE_END], sealed[_NONCE_END:]
    try:
        return AESGCM(data_key.key).decrypt(nonce, ciphertext, bound_to(place, data_key.id))
    except InvalidTag:
        raise broken(place) from None


def data_key_id(sealed: bytes) -> UUID | None:
    """Return which data key a value was sealed with; None if it is no sealed value."""
    if len(sealed) < MIN_SEALED_BYTES or sealed[:1] != VERSION:
        return None
    return UUID(bytes=bytes(sealed[1:_ID_END]))


def bound_to(place: Place, key_id: UUID) -> bytes:
    """Encode the place without ambiguity: each field behind its length in two bytes."""
    fields = (
        VERSION,
        place.project_id.bytes,
        place.table.encode(),
        place.column.encode(),
        str(place.row_id).encode(),
        key_id.bytes,
    )
    return b"".join(len(part).to_bytes(2) + part for part in fields)


def broken(place: Place) -> SealBroken:
    """Make the one error of opening: it names the place, never the reason."""
    return SealBroken(
        f"{place.table}.{place.column} of {place.row_id} cannot be opened: "
        "wrong master key, or moved or altered data"
    )
