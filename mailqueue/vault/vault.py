"""Seals and opens values: selects, creates and unwraps data keys."""

import asyncio
import os
from collections.abc import Sequence
from uuid import UUID, uuid4

from mailqueue.contract.maintenance import WrappedBy
from mailqueue.core.errors import ConfigError, Locked
from mailqueue.db.fetch import Conn
from mailqueue.vault import store
from mailqueue.vault.masterkey import MasterKey
from mailqueue.vault.model import KeyGrant, WrappedKey
from mailqueue.vault.sealing import (
    KEY_BYTES,
    DataKey,
    SealedCell,
    broken,
    data_key_id,
    open_with,
    seal_with,
)
from mailqueue.vault.wrapping import unwrap, unwrap_grant, wrap


async def seal(conn: Conn, master: MasterKey, *, place: SealedCell, plaintext: bytes) -> bytes:
    """Seal a value for one place; the first value of a project creates its data key.

    Call it in the transaction that stores the value: both commit together.

    Raises:
        ConfigError: the project's data key is wrapped by another master key.
        Locked: it is wrapped by the project's own key, without a grant.
    """
    data_key = await active_data_key(conn, master, place.project_id)
    return seal_with(data_key, place, plaintext)


async def seal_many(
    conn: Conn, master: MasterKey, *, places: Sequence[SealedCell], plaintext: bytes
) -> list[bytes]:
    """Seal one value for many places of one project, at least one; see `seal`."""
    data_key = await active_data_key(conn, master, places[0].project_id)
    return await asyncio.to_thread(
        lambda: [seal_with(data_key, place, plaintext) for place in places]
    )


async def open_sealed(conn: Conn, master: MasterKey, *, place: SealedCell, sealed: bytes) -> bytes:
    """Open the stored value of a place.

    Raises:
        Locked: the project's own key is required first.
        SealBroken: it cannot be opened for another reason, which is not given.
    """
    key_id = data_key_id(sealed)
    row = key_id and await store.find_data_key(conn, place.project_id, data_key_id=key_id)
    data_key = await opened_data_key(conn, master, row) if row else None
    if data_key is None:
        raise broken(place)
    return open_with(data_key, place, sealed)


async def opened_data_key(conn: Conn, master: MasterKey, row: WrappedKey) -> DataKey | None:
    """Unwrap a data key; return None if the loaded master key does not wrap it.

    Raises:
        Locked: it is wrapped by the project's own key, without a grant.
    """
    if row.wrapped_by is WrappedBy.PLATFORM:
        by = master.named(row.master_key_id)
        if by is None:
            return None
        return unwrap(by, row.wrapped, project_id=row.project_id, data_key_id=row.id)
    grant = await store.find_grant(conn, row.id)
    if grant is None:
        raise Locked(
            f"the secrets of project {row.project_id} are locked: the holder of its own key "
            f"({row.master_key_id}) can unlock them with `mailqueue vault byok unlock`"
        )
    return granted_data_key(master, grant)


def granted_data_key(master: MasterKey, grant: KeyGrant) -> DataKey | None:
    """Unwrap the data key of a grant; return None if the loaded master key does not wrap it."""
    by = master.named(grant.master_key_id)
    if by is None:
        return None
    return unwrap_grant(
        by,
        grant.wrapped,
        project_id=grant.project_id,
        data_key_id=grant.data_key_id,
        expires_at=grant.expires_at,
    )


async def check_master_key(conn: Conn, master: MasterKey | None) -> None:
    """Refuse a master key that does not open the stored keys.

    Raises:
        ConfigError: the message has the ids of the required master keys.
    """
    wanted = await store.list_master_key_ids(conn)
    missing = [key_id for key_id in wanted if master is None or master.named(key_id) is None]
    if missing:
        held = "no master key is set" if master is None else f"the master key is {master.id}"
        raise ConfigError(
            f"{held}, but stored credentials are sealed under {', '.join(missing)}: "
            "set MAILQUEUE_MASTER_KEY to that key or restore master.key in the data folder"
        )


async def active_data_key(conn: Conn, master: MasterKey, project_id: UUID) -> DataKey:
    """Return the data key with which a project seals; create it if there is none.

    Raises:
        ConfigError: it is wrapped by another master key.
        Locked: it is wrapped by the project's own key, without a grant.
    """
    row = await store.find_active_data_key(conn, project_id)
    if row is None:
        await store.add_data_key(conn, new_data_key(master, project_id))
        # Inserted here or by a concurrent caller.
        row = await store.find_active_data_key(conn, project_id)
    if row is None:
        raise ConfigError(f"project {project_id} has no data key: it was removed concurrently")
    data_key = await opened_data_key(conn, master, row)
    if data_key is None:
        raise wrong_master_key(row)
    return data_key


def wrong_master_key(row: WrappedKey) -> ConfigError:
    """Return the error for a data key that the loaded master key does not open."""
    return ConfigError(
        f"the master key does not open the data key of project {row.project_id}: "
        f"set MAILQUEUE_MASTER_KEY to the key that wraps it ({row.master_key_id})"
    )


def new_data_key(master: MasterKey, project_id: UUID) -> WrappedKey:
    """Create a data key, wrapped by the master key."""
    data_key = DataKey(id=uuid4(), project_id=project_id, key=os.urandom(KEY_BYTES))
    return WrappedKey(data_key.id, project_id, master.id, wrap(master, data_key))
