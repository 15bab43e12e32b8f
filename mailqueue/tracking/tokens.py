"""Tokens of the links in mail; without a key of the project they cannot be made, read or changed.

One scheme for opens, clicks, unsubscribing and preferences. A token is, in URL-safe base64: the id
of a key (5 bytes), then AES-SIV (RFC 5297) of kind, mail, recipient and link: a 16-byte
authentication tag and the ciphertext. Encryption is deterministic: a mail that is sent twice has
the same links.
"""

import binascii
import hashlib
import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

SECRET_BYTES = 32
LINK_BYTES = 12
KEY_ID_BYTES = 5
MAX_KEY_ID = 2 ** (8 * KEY_ID_BYTES) - 1
_PLAIN_BYTES = 1 + 16 + 2
_MIN_TOKEN_BYTES = KEY_ID_BYTES + 16 + _PLAIN_BYTES
_MAX_TOKEN_BYTES = _MIN_TOKEN_BYTES + LINK_BYTES
_PADDING = {0: "", 2: "==", 3: "="}


class TokenKind(IntEnum):
    """What a token is for; the numbers are part of tokens and never change."""

    OPEN = 1
    CLICK = 2
    UNSUBSCRIBE = 3
    PREFERENCES = 4
    CONFIRM = 5
    DATA = 6


class InvalidToken(ValueError):
    """The text is no token of ours, or one for another purpose; the message never says which."""


@dataclass(frozen=True, slots=True)
class Token:
    """The content of a token.

    `recipient` is the position in email_recipients, 0 for mail to one. `link` names the address of
    a CLICK (see `Seals.link_of`); it is empty for the others.
    """

    kind: TokenKind
    email_id: UUID
    recipient: int = 0
    link: bytes = b""


@dataclass(frozen=True, slots=True)
class TrackingKey:
    """One key of a project; its id is part of each token made with it."""

    id: int
    project_id: UUID
    secret: bytes = field(repr=False)


class Seals:
    """Makes and opens the tokens of one project; the first key makes them, every key opens them.

    Raises:
        ValueError: there is no key, or they are not of one project.
    """

    __slots__ = ("_by_id", "_cipher", "_head", "_links", "_signing", "keys", "project_id")

    def __init__(self, keys: Iterable[TrackingKey]) -> None:
        mine = tuple(keys)
        if len({key.project_id for key in mine}) != 1:
            raise ValueError("the keys must belong to one project")
        self.project_id = mine[0].project_id
        self.keys = mine
        self._by_id = {_head(key.id): _cipher(key) for key in mine}
        self._head = _head(mine[0].id)
        self._cipher = self._by_id[self._head]
        self._links = _derived(mine[0], b"links", 32)
        self._signing = {_head(key.id): _derived(key, b"returns", 32) for key in mine}

    def seal(self, token: Token) -> str:
        """Return a token as text for a URL, 54 characters, 70 with a link: letters, digits, -, _.

        Raises:
            ValueError: a CLICK needs a link of 12 bytes, the others have none.
        """
        if len(token.link) != (LINK_BYTES if token.kind is TokenKind.CLICK else 0):
            raise ValueError(f"a token {token.kind.name} has no link of {len(token.link)} bytes")
        plain = b"%c%b%b%b" % (
            token.kind,
            token.email_id.bytes,
            token.recipient.to_bytes(2),
            token.link,
        )
        sealed = self._head + self._cipher.encrypt(plain, [self._head])
        return str(urlsafe_b64encode(sealed).rstrip(b"="), "ascii")

    def open(self, text: str, kind: TokenKind | None = None) -> Token:
        """Return what a token contains; with `kind`, refuse those of other kinds.

        Raises:
            InvalidToken: this project did not make it, or it is of another kind.
        """
        octets = _octets(text)
        cipher = self._by_id.get(octets[:KEY_ID_BYTES])
        if cipher is None:
            raise InvalidToken
        try:
            plain = cipher.decrypt(octets[KEY_ID_BYTES:], [octets[:KEY_ID_BYTES]])
            found = Token(
                TokenKind(plain[0]),
                UUID(bytes=plain[1:17]),
                int.from_bytes(plain[17:19]),
                plain[19:],
            )
        except (InvalidTag, ValueError):
            raise InvalidToken from None
        if kind is not None and found.kind is not kind:
            raise InvalidToken
        return found

    def sign(self, message: bytes) -> tuple[bytes, bytes]:
        """Return the key's id and a 32-byte MAC of a message, such as a return path."""
        return self._head, hmac.digest(self._signing[self._head], message, "sha256")

    def signed(self, key_id: int, message: bytes, mac: bytes) -> bool:
        """Return whether one of this project's keys signed a message; `mac` may be cut short."""
        secret = self._signing.get(_head(key_id))
        if secret is None or not mac:
            return False
        return hmac.compare_digest(hmac.digest(secret, message, "sha256")[: len(mac)], mac)

    def link_of(self, url: str) -> bytes:
        """Return the link id of a URL: 96 bits of a keyed hash, the same for all mail."""
        return hmac.digest(self._links, url.encode("utf-8", "surrogatepass"), "sha256")[:LINK_BYTES]


def key_id_of(text: str) -> int:
    """Return the id of the key that a token names; nothing is verified yet.

    Raises:
        InvalidToken: the text has not the form of a token.
    """
    return int.from_bytes(_octets(text)[:KEY_ID_BYTES])


def _octets(text: str) -> bytes:
    try:
        octets = urlsafe_b64decode(text + _PADDING[len(text) % 4])
    except (KeyError, ValueError, binascii.Error):
        raise InvalidToken from None
    # One spelling each: the decoder ignores characters outside its alphabet, and spare bits.
    spelled = str(urlsafe_b64encode(octets).rstrip(b"="), "ascii")
    if not _MIN_TOKEN_BYTES <= len(octets) <= _MAX_TOKEN_BYTES or spelled != text:
        raise InvalidToken
    return octets


def _head(key_id: int) -> bytes:
    return key_id.to_bytes(KEY_ID_BYTES)


def _cipher(key: TrackingKey) -> AESSIV:
    return AESSIV(_derived(key, b"tokens", 64))


def _derived(key: TrackingKey, purpose: bytes, length: int) -> bytes:
    if len(key.secret) != SECRET_BYTES:
        raise ValueError(f"a tracking key has {SECRET_BYTES} bytes, got {len(key.secret)}")
    message = b"mailqueue tracking 1 " + purpose + key.project_id.bytes + _head(key.id)
    return hmac.digest(key.secret, message, hashlib.sha512)[:length]
