"""Sealing and opening: which data key is used, and that it exists."""

import os
from uuid import UUID, uuid4

from mailqueue.core.errors import ConfigError
from mailqueue.db.fetch import Conn
from mailqueue.vault import store
from mailqueue.vault.masterkey import MasterKey
from mailqueue.vault.sealing import (
    KEY_BYTES,
    DataKey,
    Place,
    broken,
    data_key_id,
    open_with,
    seal_with,
)
from mailqueue.vault.store import WrappedKey
from mailqueue.vault.wrapping import unwrap, wrap


async def seal(conn: Conn, master: MasterKey, *, place: Place, plaintext: bytes) -> bytes:
    """Seal a value for one place; the project's first one makes its data key.

    Call it in the transaction that stores the value: both commit together.

    Raises:
        ConfigError: the project's data key is wrapped by another master key.
    """
    data_key = await _active_data_key(conn, master, place.project_id)
    return seal_with(data_key, place, plaintext)


async def open_sealed(conn: Conn, master: MasterKey, *, place: Place, sealed: bytes) -> bytes:
    """Open what is stored in one place.

    Raises:
        SealBroken: whatever is wrong; it never says what.
    """
    key_id = data_key_id(sealed)
    row = key_id and await store.find_data_key(conn, place.project_id, data_key_id=key_id)
    data_key = _unwrapped(master, row) if row else None
    if data_key is None:
        raise broken(place)
    return open_with(data_key, place, sealed)


async def check_master_key(conn: Conn, master: MasterKey | None) -> None:
    """Refuse to go on with a master key that does not open what is stored.

    Raises:
        ConfigError: names the master keys that are wanted, by id.
    """
    wanted = await store.list_master_key_ids(conn)
    missing = [key_id for key_id in wanted if master is None or key_id != master.id]
    if missing:
        held = "no master key is set" if master is None else f"the master key is {master.id}"
        raise ConfigError(
            f"{held}, but stored credentials are sealed under {', '.join(missing)}: "
            "set MAILQUEUE_MASTER_KEY to that key or restore master.key in the data folder"
        )


async def _active_data_key(conn: Conn, master: MasterKey, project_id: UUID) -> DataKey:
    row = await store.find_active_data_key(conn, project_id)
    if row is None:
        await store.add_data_key(conn, _new_data_key(master, project_id))
        row = await store.find_active_data_key(conn, project_id)  # ours, or who was first
    data_key = _unwrapped(master, row) if row else None
    if data_key is None:
        raise ConfigError(
            f"the master key ({master.id}) does not open the data key of project {project_id}: "
            "set MAILQUEUE_MASTER_KEY to the key it was made under"
            + (f" ({row.master_key_id})" if row else "")
        )
    return data_key


def _new_data_key(master: MasterKey, project_id: UUID) -> WrappedKey:
    data_key = DataKey(id=uuid4(), project_id=project_id, key=os.urandom(KEY_BYTES))
    return WrappedKey(data_key.id, project_id, master.id, wrap(master, data_key))


def _unwrapped(master: MasterKey, row: WrappedKey) -> DataKey | None:
    return unwrap(master, row.wrapped, project_id=row.project_id, data_key_id=row.id)
