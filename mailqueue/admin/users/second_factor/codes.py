"""One-time codes by time (RFC 6238) and recovery codes. Pure, but for random secrets."""

import base64
import hashlib
import hmac
import os
import secrets
from collections.abc import Sequence
from uuid import UUID

from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

from mailqueue.core.secret import Secret

DIGITS = 6
STEP_SECONDS = 30
MAX_STEPS_OFF = 1
"""Time steps by which the clock of a device may differ from ours, in each direction."""
SECRET_BYTES = 20
"""Length of a secret: that of SHA-1, as RFC 4226 recommends."""
RECOVERY_CODES = 10
"""Number of recovery codes of a user."""
MAX_CODE_CHARACTERS = 40
"""Characters of a code as it is typed, with spaces and dashes."""
_RECOVERY_BYTES = 10
_GROUP = 4


def new_secret() -> bytes:
    """Return a new secret of one-time codes."""
    return os.urandom(SECRET_BYTES)


def secret_text(secret: bytes) -> Secret:
    """Return a secret as people type it into an app: base32, in groups of four."""
    return Secret(_grouped(base64.b32encode(secret).decode(), " "))


def provisioning_uri(secret: bytes, *, name: str, issuer: str) -> Secret:
    """Return the otpauth URI that apps read from a QR code."""
    # Apps divide issuer and name at the first colon.
    return Secret(_totp(secret).get_provisioning_uri(name, issuer.replace(":", " ")))


def matching_step(secret: bytes, code: str, *, now: float) -> int | None:
    """Return the time step of a code; None if it is not one of those that count at `now`.

    `now` is in seconds since 1970. The latest step wins, so that a code that is the same in two
    steps is used up in both.
    """
    digits = _plain(code)
    if len(digits) != DIGITS or not (digits.isascii() and digits.isdigit()):
        return None
    current, found = int(now) // STEP_SECONDS, None
    for step in range(max(0, current - MAX_STEPS_OFF), current + MAX_STEPS_OFF + 1):
        wanted = _totp(secret).generate(step * STEP_SECONDS)
        if hmac.compare_digest(wanted, digits.encode()):
            found = step
    return found


def new_recovery_codes() -> Sequence[Secret]:
    """Return new recovery codes: 80 random bits each, in base32, in groups of four."""
    texts = (base64.b32encode(secrets.token_bytes(_RECOVERY_BYTES)) for _ in range(RECOVERY_CODES))
    return [Secret(_grouped(text.decode().lower(), "-")) for text in texts]


def recovery_hash(user: UUID, code: str) -> bytes | None:
    """Return the hash by which a recovery code is stored; None if it cannot be one.

    A fast hash is enough: a code is random, and has too many bits to be guessed.
    """
    plain = _plain(code).lower()
    if len(plain) != _RECOVERY_BYTES * 8 // 5 or not plain.isascii():
        return None
    return hashlib.sha256(b"recovery code" + user.bytes + plain.encode()).digest()


def _totp(secret: bytes) -> TOTP:
    return TOTP(secret, DIGITS, SHA1(), STEP_SECONDS)  # noqa: S303 - HMAC-SHA-1, as apps expect


def _plain(code: str) -> str:
    """Return a code without the spaces and dashes that people type."""
    if len(code) > MAX_CODE_CHARACTERS:
        return ""
    return "".join(each for each in code if not each.isspace() and each != "-")


def _grouped(text: str, between: str) -> str:
    return between.join(text[at : at + _GROUP] for at in range(0, len(text), _GROUP))
