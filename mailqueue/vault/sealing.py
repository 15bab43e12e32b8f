"""The format of sealed values and their encryption. No I/O but the random nonce.

Layout, in bytes: version 1, data key id 16, nonce 12, ciphertext n, tag 16. AES-256-GCM (NIST SP
800-38D); the associated data are version, project, table, column, row, data key and, for a secret
that is sent to a server, that server: a value cannot be opened after it was moved to another place,
or after its server was changed.
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
_FIRST_NAMES = {"custom_smtp_servers": "inline_servers"}
"""Tables that were renamed, by name: values remain sealed for the first name."""


@dataclass(frozen=True, slots=True)
class SealedCell:
    """The column and row of a sealed value; it cannot be opened elsewhere.

    `server` is where the secret is sent, as text that changes with the server; empty for others.
    """

    project_id: UUID
    table: str
    column: str
    row_id: UUID | int | str
    server: str = ""


@dataclass(frozen=True, slots=True)
class DataKey:
    """One project's key for sealing values."""

    id: UUID
    project_id: UUID
    key: bytes = field(repr=False)


def seal_with(data_key: DataKey, place: SealedCell, plaintext: bytes) -> bytes:
    """Encrypt `plaintext` for one place; each call returns different bytes."""
    return encrypt(data_key, place, plaintext, nonce=os.urandom(NONCE_BYTES))


def encrypt(data_key: DataKey, place: SealedCell, plaintext: bytes, *, nonce: bytes) -> bytes:
    """Encrypt `plaintext` with a nonce. Never use a nonce twice with one key."""
    ciphertext = AESGCM(data_key.key).encrypt(nonce, plaintext, bound_to(place, data_key.id))
    return VERSION + data_key.id.bytes + nonce + ciphertext


def open_with(data_key: DataKey, place: SealedCell, sealed: bytes) -> bytes:
    """Decrypt the value of a place.

    Raises:
        SealBroken: it cannot be opened; the message does not say why.
    """
    if data_key_id(sealed) != data_key.id or data_key.project_id != place.project_id:
        raise broken(place)
    nonce, ciphertext = sealed[_ID_END:_NONCE_END], sealed[_NONCE_END:]
    try:
        return AESGCM(data_key.key).decrypt(nonce, ciphertext, bound_to(place, data_key.id))
    except InvalidTag:
        raise broken(place) from None


def data_key_id(sealed: bytes) -> UUID | None:
    """Return the id of a sealed value's data key; None if it is not a sealed value."""
    if len(sealed) < MIN_SEALED_BYTES or sealed[:1] != VERSION:
        return None
    return UUID(bytes=bytes(sealed[1:_ID_END]))


def bound_to(place: SealedCell, key_id: UUID) -> bytes:
    """Encode a place unambiguously: each field preceded by its length in two bytes."""
    fields = (
        VERSION,
        place.project_id.bytes,
        _FIRST_NAMES.get(place.table, place.table).encode(),
        place.column.encode(),
        str(place.row_id).encode(),
        key_id.bytes,
        *([place.server.encode()] if place.server else []),
    )
    return b"".join(len(part).to_bytes(2) + part for part in fields)


def broken(place: SealedCell) -> SealBroken:
    """Return the error for a value that cannot be opened: it names the place, not the reason."""
    return SealBroken(
        f"{place.table}.{place.column} of {place.row_id} cannot be opened: "
        "wrong master key, or the value was moved or changed"
        + (", or its server was: give the secret again" if place.server else "")
    )
