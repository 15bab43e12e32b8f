"""A login whose password was right and whose code is still asked for. Its browser keeps it.

The value is sealed by the master key. It ends by itself, and with the password: it has a hash of
the stored hash.
"""

import base64
import binascii
import hashlib
import hmac
import struct
from uuid import UUID

from mailqueue.admin.users.model import SecondFactor
from mailqueue.core.secret import Secret
from mailqueue.vault.masterkey import MasterKey
from mailqueue.vault.users import Purpose, UserValue, open_for_user, seal_for_user

LASTS_SECONDS = 300
"""Seconds that a user has for the code after the password."""
MAX_CHARACTERS = 300
_CONTENT = struct.Struct(">Q32s")


def keep(master: MasterKey, user: UUID, password_hash: str, *, now: float) -> Secret:
    """Return the value for the browser; `now` in seconds since 1970."""
    content = _CONTENT.pack(int(now) + LASTS_SECONDS, _digest(password_hash))
    value = seal_for_user(master, user, Purpose.LOGIN, content)
    sealed = base64.urlsafe_b64encode(value.sealed).decode()
    return Secret(f"{user.hex}.{value.master_key_id}.{sealed}")


def user_of(kept: Secret) -> UUID | None:
    """Return the user that a value names; nothing is verified yet."""
    try:
        return UUID(hex=kept.reveal().partition(".")[0])
    except ValueError:
        return None


def is_valid(master: MasterKey, kept: Secret, factor: SecondFactor, *, now: float) -> bool:
    """Return whether a value is of this user and password, and has not ended."""
    user, _, rest = kept.reveal().partition(".")
    key_id, _, encoded = rest.partition(".")
    try:
        sealed = base64.urlsafe_b64decode(encoded)
    except (binascii.Error, ValueError):
        return False
    content = open_for_user(master, factor.user_id, Purpose.LOGIN, UserValue(key_id, sealed))
    if content is None or user != factor.user_id.hex:
        return False
    until, digest = _CONTENT.unpack(content)
    return now < until and hmac.compare_digest(digest, _digest(factor.password_hash))


def _digest(password_hash: str) -> bytes:
    return hashlib.sha256(password_hash.encode()).digest()
