"""The format of API keys: a prefix, random characters and a checksum. Pure.

`mq_live_` or `mq_test_`, 256 random bits in base 62, and a checksum of both. With the checksum a
secret scanner, or this code, can recognize a key without the database.
"""

import hashlib
import re
import secrets
import zlib

from mailqueue.core.secret import Secret

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_RANDOM_CHARACTERS = 43  # 62**43 > 2**256
_CHECK_CHARACTERS = 6  # 62**6 > 2**32
_KEY = re.compile(
    rf"mq_(?:live|test)_[0-9A-Za-z]{{{_RANDOM_CHARACTERS}}}[0-9A-Za-z]{{{_CHECK_CHARACTERS}}}"
)
HINT_CHARACTERS = len("mq_live_") + 4


def new_key(*, is_test: bool) -> Secret:
    """Return a new key."""
    return new_secret("mq_test_" if is_test else "mq_live_")


def new_secret(prefix: str) -> Secret:
    """Return a new secret: the prefix, 256 random bits in base 62, and a checksum."""
    body = prefix + _base62(secrets.randbits(256), _RANDOM_CHARACTERS)
    return Secret(body + _checksum(body))


def is_well_formed(key: str) -> bool:
    """Return whether a text has the form of a key."""
    return _KEY.fullmatch(key) is not None and has_checksum(key)


def has_checksum(text: str) -> bool:
    """Return whether a text ends in the checksum of the characters before."""
    return _checksum(text[:-_CHECK_CHARACTERS]) == text[-_CHECK_CHARACTERS:]


def hash_of(key: str) -> bytes:
    """Return the hash that is stored; 256 random bits need no slow hash."""
    return hashlib.sha256(key.encode()).digest()


def hint_of(key: Secret) -> str:
    """Return the first characters of a key, shown in lists to recognize it by."""
    return key.reveal()[:HINT_CHARACTERS]


def _checksum(body: str) -> str:
    return _base62(zlib.crc32(body.encode()), _CHECK_CHARACTERS)


def _base62(number: int, width: int) -> str:
    digits = []
    for _ in range(width):
        number, digit = divmod(number, 62)
        digits.append(_DIGITS[digit])
    return "".join(reversed(digits))
