"""How a project's data key is kept: encrypted under the master key, bound to its row."""

import os
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from mailqueue.vault.masterkey import MasterKey
from mailqueue.vault.sealing import NONCE_BYTES, DataKey


def wrap(master: MasterKey, data_key: DataKey) -> bytes:
    """Encrypt a data key for its row in data_keys: nonce 12, ciphertext 32, tag 16."""
    nonce = os.urandom(NONCE_BYTES)
    bound = _wrap_bound_to(data_key.project_id, data_key.id, master.id)
    return nonce + AESGCM(master.key).encrypt(nonce, data_key.key, bound)


def unwrap(
    master: MasterKey, wrapped: bytes, *, project_id: UUID, data_key_id: UUID
) -> DataKey | None:
    """Decrypt a data key; None if it was wrapped by another key or for another row."""
    bound = _wrap_bound_to(project_id, data_key_id, master.id)
    try:
        key = AESGCM(master.key).decrypt(wrapped[:NONCE_BYTES], wrapped[NONCE_BYTES:], bound)
    except (InvalidTag, ValueError):  # ValueError: a truncated nonce
        return None
    return DataKey(id=data_key_id, project_id=project_id, key=key)


def _wrap_bound_to(project_id: UUID, data_key_id: UUID, master_id: str) -> bytes:
    # None of the fields can hold the separator.
    return f"mq-dek|v1|{project_id}|{data_key_id}|{master_id}".encode()
