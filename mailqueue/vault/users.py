"""Values of users of the console, sealed by the master key itself: they belong to no project.

Layout, in bytes: version 1, nonce 12, ciphertext n, tag 16. AES-256-GCM; the associated data are
the purpose, the user and the master key: a value opens for no other user and no other purpose.
"""

import os
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from mailqueue.db.fetch import Conn
from mailqueue.vault import store
from mailqueue.vault.masterkey import MasterKey
from mailqueue.vault.model import SealedSecondFactor
from mailqueue.vault.sealing import NONCE_BYTES, VERSION, SealedCell, broken

_NONCE_END = len(VERSION) + NONCE_BYTES


class Purpose(StrEnum):
    """What a value of a user is for."""

    SECOND_FACTOR = "second factor"  # the secret of one-time codes
    LOGIN = "login"  # a login whose password was right


@dataclass(frozen=True, slots=True)
class UserValue:
    """A value sealed for a user, and the id of the master key that opens it."""

    master_key_id: str
    sealed: bytes = field(repr=False)


def seal_for_user(master: MasterKey, user: UUID, purpose: Purpose, plaintext: bytes) -> UserValue:
    """Encrypt a value of a user by the current master key."""
    nonce = os.urandom(NONCE_BYTES)
    ciphertext = AESGCM(master.key).encrypt(nonce, plaintext, _bound_to(user, purpose, master.id))
    return UserValue(master.id, VERSION + nonce + ciphertext)


def open_for_user(
    master: MasterKey, user: UUID, purpose: Purpose, value: UserValue
) -> bytes | None:
    """Decrypt a value of a user; None if no loaded master key opens it for this user."""
    by, sealed = master.named(value.master_key_id), value.sealed
    if by is None or not sealed.startswith(VERSION):
        return None
    nonce, ciphertext = sealed[len(VERSION) : _NONCE_END], sealed[_NONCE_END:]
    try:
        return AESGCM(by.key).decrypt(nonce, ciphertext, _bound_to(user, purpose, by.id))
    except (InvalidTag, ValueError):  # ValueError: a truncated nonce
        return None


async def reseal_second_factors(conn: Conn, master: MasterKey, damaged: list[str]) -> int:
    """Seal second factors by the current master key; return how many were sealed again.

    Those that no loaded key opens are reported in `damaged`, and stay as they are.
    """
    count, after = 0, None
    while rows := await store.list_second_factors_to_reseal(conn, master.id, after=after):
        for row in rows:
            value = UserValue(row.master_key_id, row.sealed)
            secret = open_for_user(master, row.user_id, Purpose.SECOND_FACTOR, value)
            if secret is None:
                damaged.append(str(broken(second_factor_cell(row.user_id))))
                continue
            again = seal_for_user(master, row.user_id, Purpose.SECOND_FACTOR, secret)
            new = SealedSecondFactor(row.user_id, again.master_key_id, again.sealed)
            count += await store.reseal_second_factor(conn, new, old=row.sealed)
        after = rows[-1].user_id
    return count


def second_factor_cell(user: UUID) -> SealedCell:
    """Return the place of the sealed secret of a user, for errors."""
    return SealedCell(store.NO_PROJECT, "console_second_factors", "sealed", user)


def _bound_to(user: UUID, purpose: Purpose, key_id: str) -> bytes:
    # No field can contain the separator.
    return f"mq-user|v1|{purpose}|{user}|{key_id}".encode()
