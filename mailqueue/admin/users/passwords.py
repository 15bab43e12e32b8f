"""Passwords: which are accepted, and their hashes (Argon2id), computed a few at a time."""

import asyncio
import os
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from cryptography.exceptions import InvalidKey
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from mailqueue.core.errors import InvalidField, Unavailable

MIN_CHARACTERS = 12
MAX_CHARACTERS = 200
MIN_DISTINCT = 5
"""Minimum number of different characters in a password."""
MAX_WAITING = 20
"""Hashes that wait in this process for each lane; further logins are refused at once."""
_SALT_BYTES = 16
_HASH_BYTES = 32
T = TypeVar("T")


def check_password(password: str, *, name: str) -> None:
    """Refuse a password that is easily guessed. Pure.

    Raises:
        InvalidField: it is too short, too long, or made of the user's name or few characters.
    """
    if len(password) < MIN_CHARACTERS:
        raise InvalidField("password", f"must have at least {MIN_CHARACTERS} characters")
    if len(password) > MAX_CHARACTERS:
        raise InvalidField("password", f"must have at most {MAX_CHARACTERS} characters")
    if len(set(password)) < MIN_DISTINCT:
        raise InvalidField("password", f"must have at least {MIN_DISTINCT} different characters")
    rest = password.lower()
    for word in (name.strip().lower(), "mailqueue", "password"):
        rest = rest.replace(word, "") if len(word) >= 3 else rest
    if len(rest) < MIN_CHARACTERS // 2:
        raise InvalidField("password", "must not be made of your name or the word password")


@dataclass(frozen=True, slots=True)
class Cost:
    """What a hash costs; by default the second choice of RFC 9106, section 4."""

    memory_kib: int = 64 * 1024
    passes: int = 3
    lanes: int = 4


class Passwords:
    """Hashes and verifies passwords in threads, one at a time for each kind of client.

    Browsers that have logged in before do not wait for others, so that attempts from elsewhere
    cannot keep a user out.
    """

    def __init__(self, cost: Cost | None = None) -> None:
        self._cost = cost or Cost()
        self._known = _Lane()
        self._other = _Lane()
        self._decoy: str | None = None

    async def hash(self, password: str) -> str:
        """Return the hash of a password, with its parameters.

        Raises:
            Unavailable: too many hashes are being computed.
        """
        return await self._known.run(partial(self._hashed, password))

    async def verify(
        self, password_hash: str | None, password: str, *, is_known_browser: bool
    ) -> bool:
        """Return whether a password is right; None, for no such user, takes the same time.

        Raises:
            Unavailable: too many hashes are being computed.
        """
        lane = self._known if is_known_browser else self._other
        if len(password) > MAX_CHARACTERS:
            return False
        if password_hash is None:
            if self._decoy is None:
                self._decoy = await lane.run(partial(self._hashed, "no user has this one"))
            await lane.run(partial(self._is_right, self._decoy, password))
            return False
        return await lane.run(partial(self._is_right, password_hash, password))

    def _is_right(self, password_hash: str, password: str) -> bool:
        try:
            Argon2id.verify_phc_encoded(_normal(password), password_hash)
        except (InvalidKey, ValueError):
            return False
        return True

    def _hashed(self, password: str) -> str:
        made = Argon2id(
            salt=os.urandom(_SALT_BYTES),
            length=_HASH_BYTES,
            iterations=self._cost.passes,
            lanes=self._cost.lanes,
            memory_cost=self._cost.memory_kib,
        )
        return made.derive_phc_encoded(_normal(password))


class _Lane:
    """Runs one computation at a time in a thread."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._waiting = 0

    async def run(self, work: Callable[[], T]) -> T:
        if self._waiting >= MAX_WAITING:
            raise Unavailable("too many people are logging in; try again in a moment")
        self._waiting += 1
        try:
            async with self._turn:
                return await asyncio.to_thread(work)
        finally:
            self._waiting -= 1


def _normal(password: str) -> bytes:
    """Return a password in one form of Unicode: keyboards compose characters differently."""
    return unicodedata.normalize("NFKC", password).encode("utf-8", "surrogatepass")
