"""Wraps data keys: encrypts them with another key, bound to their row.

The other key is the master key or a project's own key. While a project is unlocked, its data key is
also wrapped by the master key, bound to the end of the grant.
"""

import os
from datetime import UTC, datetime
from typing import Protocol
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from mailqueue.vault.sealing import NONCE_BYTES, DataKey


class WrappingKey(Protocol):
    """A key that wraps data keys, and its id."""

    @property
    def key(self) -> bytes: ...

    @property
    def id(self) -> str: ...


def wrap(by: WrappingKey, data_key: DataKey) -> bytes:
    """Encrypt a data key for its row in data_keys: nonce 12, ciphertext 32, tag 16 bytes."""
    return _encrypted(by, data_key, _wrap_bound_to(data_key.project_id, data_key.id, by.id))


def unwrap(
    by: WrappingKey, wrapped: bytes, *, project_id: UUID, data_key_id: UUID
) -> DataKey | None:
    """Decrypt a data key; None if it was wrapped by another key or for another row."""
    bound = _wrap_bound_to(project_id, data_key_id, by.id)
    return _decrypted(by, wrapped, bound, project_id=project_id, data_key_id=data_key_id)


def wrap_grant(by: WrappingKey, data_key: DataKey, *, expires_at: datetime) -> bytes:
    """Encrypt a data key for its row in key_grants, in the format of data_keys."""
    bound = _grant_bound_to(data_key.project_id, data_key.id, by.id, expires_at)
    return _encrypted(by, data_key, bound)


def unwrap_grant(
    by: WrappingKey, wrapped: bytes, *, project_id: UUID, data_key_id: UUID, expires_at: datetime
) -> DataKey | None:
    """Decrypt a granted data key; None if it belongs to another grant, or its end was changed."""
    bound = _grant_bound_to(project_id, data_key_id, by.id, expires_at)
    return _decrypted(by, wrapped, bound, project_id=project_id, data_key_id=data_key_id)


def wrap_audit_key(by: WrappingKey, key: DataKey) -> bytes:
    """Encrypt a key of the audit log, in the format of data_keys."""
    return _encrypted(by, key, _audit_bound_to(key.id, by.id))


def unwrap_audit_key(by: WrappingKey, wrapped: bytes, *, key_id: UUID) -> DataKey | None:
    """Decrypt a key of the audit log; None if it was wrapped by another key or for another row."""
    bound = _audit_bound_to(key_id, by.id)
    return _decrypted(by, wrapped, bound, project_id=UUID(int=0), data_key_id=key_id)


def _encrypted(by: WrappingKey, data_key: DataKey, bound: bytes) -> bytes:
    nonce = os.urandom(NONCE_BYTES)
    return nonce + AESGCM(by.key).encrypt(nonce, data_key.key, bound)


def _decrypted(
    by: WrappingKey, wrapped: bytes, bound: bytes, *, project_id: UUID, data_key_id: UUID
) -> DataKey | None:
    try:
        key = AESGCM(by.key).decrypt(wrapped[:NONCE_BYTES], wrapped[NONCE_BYTES:], bound)
    except (InvalidTag, ValueError):  # ValueError: a truncated nonce
        return None
    return DataKey(id=data_key_id, project_id=project_id, key=key)


def _wrap_bound_to(project_id: UUID, data_key_id: UUID, key_id: str) -> bytes:
    # No field can contain the separator.
    return f"mq-dek|v1|{project_id}|{data_key_id}|{key_id}".encode()


def _grant_bound_to(
    project_id: UUID, data_key_id: UUID, key_id: str, expires_at: datetime
) -> bytes:
    until = expires_at.astimezone(UTC).isoformat(timespec="microseconds")
    return f"mq-grant|v1|{project_id}|{data_key_id}|{key_id}|{until}".encode()


def _audit_bound_to(audit_key_id: UUID, key_id: str) -> bytes:
    return f"mq-audit|v1|{audit_key_id}|{key_id}".encode()
