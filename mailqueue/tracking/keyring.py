"""A cache of the keys that make and open a project's tokens."""

import os
import time
from collections import OrderedDict
from collections.abc import Callable
from uuid import UUID

from mailqueue.contract.domains import TrackingKeyDates
from mailqueue.core.errors import ConfigError
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


class Keyring:
    """The opened keys of the projects this process has met."""

    def __init__(self, read_master: Callable[[], MasterKey | None]) -> None:
        self._read_master = read_master
        self._by_key: dict[int, Seals] = {}
        self._by_project: OrderedDict[UUID, tuple[Seals, float]] = OrderedDict()

    async def of(self, conn: Conn, project_id: UUID) -> Seals:
        """Return the seals of a project; the first call makes its key.

        Raises:
            ConfigError: there is no master key here, or another one.
            Locked: the project's own key has not allowed it.
            SealBroken: a stored key cannot be opened.
        """
        found = self._by_project.get(project_id)
        if found is not None and time.monotonic() - found[1] < FRESH_SECONDS:
            return found[0]
        seals = await self._loaded(conn, project_id)
        while seals is None:
            await _make(conn, self._master(), project_id)  # ours, or who was first
            seals = await self._loaded(conn, project_id)
        return seals

    def held(self, text: str) -> Seals | None:
        """Return the seals that may open a token from the cache; None when they are not there.

        Raises:
            InvalidToken: the text has not the form of a token.
        """
        return self._by_key.get(key_id_of(text))

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
        """Return the seals that hold a key; None when there is no such key.

        Raises:
            ConfigError, Locked, SealBroken: as `of`.
        """
        seals = self._by_key.get(key_id)
        if seals is None:
            project_id = await store.find_project(conn, key_id)
            seals = None if project_id is None else await self._loaded(conn, project_id)
        return seals

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
        self._by_project[project_id] = seals, time.monotonic()
        self._by_project.move_to_end(project_id)
        self._by_key.update((key.id, seals) for key in keys)
        while len(self._by_project) > MAX_CACHED_PROJECTS:
            _, (oldest, _) = self._by_project.popitem(last=False)
            self._by_key = {id_: one for id_, one in self._by_key.items() if one is not oldest}
        return seals

    def _master(self) -> MasterKey:
        master = self._read_master()  # each time: it may have been replaced meanwhile
        if master is None:
            raise ConfigError(
                "tokens of links are encrypted with the master key: set MAILQUEUE_MASTER_KEY"
            )
        return master


async def rotate(conn: Conn, master: MasterKey, project_id: UUID) -> None:
    """Replace the key that makes a project's tokens; existing tokens stay valid."""
    async with conn.transaction():
        await store.retire_key(conn, project_id)
        for _ in range(3):  # its random id may be taken
            if await _make(conn, master, project_id):
                return


async def _make(conn: Conn, master: MasterKey, project_id: UUID) -> bool:
    key_id = int.from_bytes(os.urandom(KEY_ID_BYTES)) or 1
    place = SealedCell(project_id, "tracking_keys", "sealed", key_id)
    async with conn.transaction():
        sealed = await vault.seal(conn, master, place=place, plaintext=os.urandom(SECRET_BYTES))
        return await store.add_key(conn, key_id, project_id, sealed=sealed)


async def keys_of(conn: Conn, project_id: UUID) -> list[TrackingKeyDates]:
    """Return when the keys of a project were made and retired, newest first."""
    return await store.show_keys(conn, project_id)
