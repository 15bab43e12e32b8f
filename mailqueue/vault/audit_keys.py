"""Keys that seal the audit log, wrapped by the master key."""

import os
from dataclasses import replace
from uuid import UUID, uuid4

from mailqueue.core.errors import ConfigError
from mailqueue.db.fetch import Conn
from mailqueue.vault import store
from mailqueue.vault.masterkey import MasterKey
from mailqueue.vault.model import AuditKey
from mailqueue.vault.sealing import KEY_BYTES, DataKey
from mailqueue.vault.wrapping import unwrap_audit_key, wrap_audit_key


async def sealing_key(conn: Conn, master: MasterKey) -> DataKey:
    """Return the key that seals; create it if there is none. Call it in a transaction.

    Raises:
        ConfigError: it is wrapped by another master key.
    """
    rows = await store.list_audit_keys(conn)
    if not rows:
        return await add_audit_key(conn, master)
    return opened(master, rows[-1])


async def add_audit_key(conn: Conn, master: MasterKey) -> DataKey:
    """Create the key that seals from now on."""
    key = DataKey(uuid4(), store.NO_PROJECT, os.urandom(KEY_BYTES))
    await store.add_audit_key(
        conn, AuditKey(key.id, master.id, wrap_audit_key(master, key), master.id)
    )
    return key


async def keys_by_id(conn: Conn, master: MasterKey) -> dict[UUID, bytes]:
    """Return the keys of the audit log that the loaded master keys open."""
    found = {row.id: _unwrapped(master, row) for row in await store.list_audit_keys(conn)}
    return {key_id: key.key for key_id, key in found.items() if key is not None}


async def rotate_audit_keys(conn: Conn, master: MasterKey) -> int:
    """Wrap the keys by the current master key, and seal with a new one if it made none of them.

    Return the number of keys that were wrapped again.

    Raises:
        ConfigError: a key is wrapped by a master key that is not loaded.
    """
    rows, count = await store.list_audit_keys(conn), 0
    for row in rows:
        if row.master_key_id != master.id:
            wrapped = wrap_audit_key(master, opened(master, row))
            new = replace(row, master_key_id=master.id, wrapped=wrapped)
            count += await store.rewrap_audit_key(conn, new, old=row.wrapped)
    if rows and rows[-1].made_under != master.id:
        await add_audit_key(conn, master)
    return count


def opened(master: MasterKey, row: AuditKey) -> DataKey:
    """Return an unwrapped key.

    Raises:
        ConfigError: the loaded master keys do not open it.
    """
    key = _unwrapped(master, row)
    if key is None:
        raise ConfigError(
            f"the master key does not open key {row.id} of the audit log: set "
            f"MAILQUEUE_MASTER_KEY to the key that wraps it ({row.master_key_id})"
        )
    return key


def _unwrapped(master: MasterKey, row: AuditKey) -> DataKey | None:
    by = master.named(row.master_key_id)
    return None if by is None else unwrap_audit_key(by, row.wrapped, key_id=row.id)
