"""A cache of the keys that make and open a project's tokens."""

import os
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from mailqueue.contract.domains import TrackingKeyDates
from mailqueue.core.errors import ConfigError, Conflict, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.tracking import store
from mailqueue.tracking.tokens import (
    KEY_ID_BYTES,
    SECRET_BYTES,
    InvalidToken,
    Seals,
    TrackingKey,
    key_id_of,
)
from mailqueue.vault import vault
from mailqueue.vault.masterkey import MasterKey
from mailqueue.vault.sealing import SealedCell

MAX_CACHED_PROJECTS = 10_000
FRESH_SECONDS = 600.0
"""How long a key makes tokens before the database is asked for a new one."""


REVOKED_SECONDS = 60.0
"""How long a process accepts and makes tokens before it asks whether a key was revoked."""


@dataclass(slots=True)
class _CachedSeals:
    """The seals of a project; when they were read, and last compared with the revoked keys."""

    seals: Seals
    read_at: float
    in_force_until: float
    """When the keys are compared again with those that were revoked."""


class Keyring:
    """The opened keys of the projects this process has met."""

    def __init__(
        self,
        read_master: Callable[[], MasterKey | None],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._read_master = read_master
        self._clock = clock
        self._by_key: dict[int, _CachedSeals] = {}
        self._by_project: OrderedDict[UUID, _CachedSeals] = OrderedDict()

    async def of(self, conn: Conn, project_id: UUID) -> Seals:
        """Return the seals of a project; the first call makes its key.

        Raises:
            ConfigError: there is no master key here, or another one.
            Locked: no access to the project's own key is granted.
            SealBroken: a stored key cannot be opened.
        """
        found = self._by_project.get(project_id)
        if found is not None and self._clock() - found.read_at < FRESH_SECONDS:
            is_known = self._clock() < found.in_force_until
            if is_known or found.seals.keys[0].id not in await self._revoked(conn, found):
                return found.seals
        seals = await self._loaded(conn, project_id)
        while seals is None:
            await _make(conn, self._master(), project_id)  # ours, or who was first
            seals = await self._loaded(conn, project_id)
        return seals

    def held(self, text: str) -> Seals | None:
        """Return the seals that may open a token from the cache; None when they are not there, or
        not known to be in force.

        Raises:
            InvalidToken: the text has not the form of a token.
        """
        found = self._by_key.get(key_id_of(text))
        is_known = found is not None and self._clock() < found.in_force_until
        return found.seals if found is not None and is_known else None

    async def opener(self, conn: Conn, text: str) -> Seals:
        """Return the seals that may open a token.

        Raises:
            InvalidToken: the token names no key of ours.
            ConfigError, Locked, SealBroken: as `of`.
        """
        seals = await self.signer(conn, key_id_of(text))
        if seals is None:
            raise InvalidToken
        return seals

    async def signer(self, conn: Conn, key_id: int) -> Seals | None:
        """Return the seals that hold a key; None when there is no such key, or it was revoked.

        Raises:
            ConfigError, Locked, SealBroken: as `of`.
        """
        found = self._by_key.get(key_id)
        if found is not None:
            is_known = self._clock() < found.in_force_until
            is_good = is_known or key_id not in await self._revoked(conn, found)
            return found.seals if is_good else None
        project_id = await store.find_project(conn, key_id)
        return None if project_id is None else await self._loaded(conn, project_id)

    async def _revoked(self, conn: Conn, cached: _CachedSeals) -> set[int]:
        """Return the cached keys of a project that were revoked, and forget them."""
        mine = {key.id for key in cached.seals.keys}
        revoked = mine.intersection(await store.list_revoked(conn, cached.seals.project_id))
        cached.in_force_until = self._clock() + REVOKED_SECONDS
        if revoked:
            for key_id in revoked:
                self._by_key.pop(key_id, None)
            if cached.seals.keys[0].id in revoked:
                self._by_project.pop(cached.seals.project_id, None)  # another key makes tokens
            # Without opening them again: the project may keep its own key to itself by now.
            left = [key for key in cached.seals.keys if key.id not in revoked]
            if left:
                cached.seals = Seals(left)
        return revoked

    async def _loaded(self, conn: Conn, project_id: UUID) -> Seals | None:
        rows = await store.list_keys(conn, project_id)
        if not rows:
            return None
        keys = []
        for row in rows:
            place = SealedCell(project_id, "tracking_keys", "sealed", row.id)
            secret = await vault.open_sealed(conn, self._master(), place=place, sealed=row.sealed)
            keys.append(TrackingKey(row.id, project_id, secret))
        seals = Seals(keys)
        now = self._clock()
        cached = self._by_project[project_id] = _CachedSeals(seals, now, now + REVOKED_SECONDS)
        self._by_project.move_to_end(project_id)
        self._by_key.update((key.id, cached) for key in keys)
        while len(self._by_project) > MAX_CACHED_PROJECTS:
            _, oldest = self._by_project.popitem(last=False)
            self._by_key = {id_: one for id_, one in self._by_key.items() if one is not oldest}
        return seals

    def _master(self) -> MasterKey:
        master = self._read_master()  # each time: it may have been replaced meanwhile
        if master is None:
            raise ConfigError(
                "tokens of links are encrypted with the master key: set MAILQUEUE_MASTER_KEY"
            )
        return master


async def rotate(conn: Conn, master: MasterKey, project_id: UUID, *, by: str) -> None:
    """Replace the key that makes a project's tokens; existing tokens stay valid."""
    async with conn.transaction():
        await store.retire_key(conn, project_id)
        for _ in range(3):  # its random id may be taken
            if await _make(conn, master, project_id):
                break
        await store.note(
            conn, project_id, by=by, action="tracking.rotated", subject="key of tracking links"
        )


async def revoke(
    conn: Conn, master: MasterKey | None, project_id: UUID, key_id: str, *, by: str
) -> TrackingKeyDates:
    """Revoke a key: links that it signed stop working, those to unsubscribe included.

    The key that signs links now is replaced first. Running processes notice within
    REVOKED_SECONDS; links that they sign with the key until then do not work either.

    Raises:
        NotFound: the project has no such key.
        Conflict: it signs links now, and there is no master key to make another.
    """
    async with conn.transaction():
        key = await _shown(conn, project_id, key_id)
        if key.revoked_at is not None:
            return key
        if key.retired_at is None:
            if master is None:
                raise Conflict("it signs links now, and there is no master key to make another")
            await rotate(conn, master, project_id, by=by)
        await store.revoke_key(conn, project_id, int(key.id, 16))
        subject = f"key {key.id} of tracking links"
        await store.note(conn, project_id, by=by, action="tracking.revoked", subject=subject)
        return await _shown(conn, project_id, key_id)


async def _shown(conn: Conn, project_id: UUID, key_id: str) -> TrackingKeyDates:
    for key in await store.show_keys(conn, project_id):
        if key.id == key_id.lower():
            return key
    raise NotFound("tracking key", key_id[:100])


async def _make(conn: Conn, master: MasterKey, project_id: UUID) -> bool:
    key_id = int.from_bytes(os.urandom(KEY_ID_BYTES)) or 1
    place = SealedCell(project_id, "tracking_keys", "sealed", key_id)
    async with conn.transaction():
        sealed = await vault.seal(conn, master, place=place, plaintext=os.urandom(SECRET_BYTES))
        return await store.add_key(conn, key_id, project_id, sealed=sealed)


async def keys_of(conn: Conn, project_id: UUID) -> list[TrackingKeyDates]:
    """Return when the keys of a project were made, retired and revoked, newest first."""
    return await store.show_keys(conn, project_id)
