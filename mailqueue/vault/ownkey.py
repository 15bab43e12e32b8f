"""Projects with their own key (BYOK): set it, unlock for a time, lock, release.

The key is used during the call and never stored. While a project is unlocked, its data keys are in
key_grants, wrapped by the master key; afterwards its mail waits.
"""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from mailqueue.contract.maintenance import ProjectVault, WrappedBy
from mailqueue.core.errors import Conflict, InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.vault import store, vault
from mailqueue.vault.masterkey import MasterKey
from mailqueue.vault.model import KeyGrant, OwnKey, WrappedKey
from mailqueue.vault.sealing import DataKey
from mailqueue.vault.wrapping import unwrap, wrap, wrap_grant

MAX_GRANT = timedelta(days=366)


async def set_own(
    conn: Conn,
    project: str,
    *,
    own: OwnKey,
    master: MasterKey,
    unlock_for: timedelta | None = None,
    by: str,
) -> list[ProjectVault]:
    """Wrap a project's data keys by its own key only; unlock for a time, or lock.

    Raises:
        NotFound: the project does not exist.
        Conflict: it already has its own key.
        ConfigError: the loaded master key does not open its data keys.
    """
    _check_time(unlock_for)
    async with conn.transaction():
        project_id = await _project(conn, project)
        rows = await store.hold_data_keys(conn, project_id)
        if any(row.wrapped_by is WrappedBy.OWN for row in rows):
            raise Conflict(
                f"project {project} already has its own key: release it with "
                f"`mailqueue vault byok release {project}` first"
            )
        await vault.active_data_key(conn, master, project_id)  # created if there is none yet
        keys = []
        for row in await store.hold_data_keys(conn, project_id):
            key = await vault.opened_data_key(conn, master, row)
            keys.append(await _rewrapped(conn, row, key, own, WrappedBy.OWN))
        await _granted(conn, keys, master, unlock_for, by=by)
        await store.keep_project_lock(conn, project_id)
        await _note(conn, project_id, project, by=by, action="vault.own_key_set", key=own.id)
    return await store.list_vaults(conn, project)


async def unlock(
    conn: Conn, project: str, *, own: OwnKey, master: MasterKey, lasts: timedelta, by: str
) -> list[ProjectVault]:
    """Allow a project's data keys to be used for a time from now on, replacing an earlier grant.

    Raises:
        NotFound: the project does not exist.
        Conflict: it has no key of its own.
        InvalidField: this is not its key, or the time is too long.
    """
    _check_time(lasts)
    async with conn.transaction():
        project_id = await _project(conn, project)
        keys = [_opened(row, own) for row in await _own_rows(conn, project_id, project)]
        await _granted(conn, keys, master, lasts, by=by)
        await store.keep_project_lock(conn, project_id)
        seconds = int(lasts.total_seconds())
        await _note(
            conn, project_id, project, by=by, action="vault.unlocked", key=own.id, seconds=seconds
        )
    return await store.list_vaults(conn, project)


async def lock(conn: Conn, project: str, *, by: str) -> list[ProjectVault]:
    """End a project's grant at once.

    Raises:
        NotFound: the project does not exist.
        Conflict: it has no key of its own.
    """
    async with conn.transaction():
        project_id = await _project(conn, project)
        await _own_rows(conn, project_id, project)
        await store.delete_grants(conn, project_id)
        await store.keep_project_lock(conn, project_id)
        await _note(conn, project_id, project, by=by, action="vault.locked")
    return await store.list_vaults(conn, project)


async def release(
    conn: Conn, project: str, *, own: OwnKey, master: MasterKey, by: str
) -> list[ProjectVault]:
    """Wrap a project's data keys by the master key again, so that its mail needs no grant.

    Raises:
        NotFound: the project does not exist.
        Conflict: it has no key of its own.
        InvalidField: this is not its key.
    """
    async with conn.transaction():
        project_id = await _project(conn, project)
        for row in await _own_rows(conn, project_id, project):
            await _rewrapped(conn, row, _opened(row, own), master, WrappedBy.PLATFORM)
        await store.delete_grants(conn, project_id)
        await store.keep_project_lock(conn, project_id)
        await _note(conn, project_id, project, by=by, action="vault.own_key_released", key=own.id)
    return await store.list_vaults(conn, project)


async def list_vaults(
    conn: Conn, *, project: str | None = None, is_read_only: bool = False
) -> list[ProjectVault]:
    """Return the key states of projects; None stands for all projects.

    Expired grants are deleted first, unless the transaction is read-only.

    Raises:
        NotFound: the project does not exist.
    """
    if project is not None:
        await _project(conn, project)
    if not is_read_only:
        await store.forget_expired_grants(conn)
    return await store.list_vaults(conn, project)


async def _project(conn: Conn, project: str) -> UUID:
    found = await store.find_project(conn, project)
    if found is None:
        raise NotFound("project", project)
    return found


async def _own_rows(conn: Conn, project_id: UUID, project: str) -> list[WrappedKey]:
    rows = await store.hold_data_keys(conn, project_id)
    if not any(row.wrapped_by is WrappedBy.OWN for row in rows):
        raise Conflict(
            f"project {project} has no key of its own: set one with "
            f"`mailqueue vault byok set {project}`"
        )
    return rows


def _opened(row: WrappedKey, own: OwnKey) -> DataKey:
    key = None
    if row.master_key_id == own.id:
        key = unwrap(own, row.wrapped, project_id=row.project_id, data_key_id=row.id)
    if key is None:
        raise InvalidField("key", f"this key ({own.id}) is not the project's ({row.master_key_id})")
    return key


async def _rewrapped(
    conn: Conn, row: WrappedKey, key: DataKey | None, by: OwnKey | MasterKey, kind: WrappedBy
) -> DataKey:
    if key is None:
        raise vault.wrong_master_key(row)
    new = WrappedKey(row.id, row.project_id, by.id, wrap(by, key), kind)
    await store.rewrap(conn, new, old=row.wrapped)
    return key


async def _granted(
    conn: Conn, keys: Sequence[DataKey], master: MasterKey, lasts: timedelta | None, *, by: str
) -> None:
    if lasts is None:
        return
    until = await store.instant_after(conn, lasts)
    for key in keys:
        wrapped = wrap_grant(master, key, expires_at=until)
        grant = KeyGrant(key.id, key.project_id, master.id, wrapped, until)
        await store.add_grant(conn, grant, by=by)


def _check_time(lasts: timedelta | None) -> None:
    if lasts is not None and not timedelta(0) < lasts <= MAX_GRANT:
        raise InvalidField("for", f"must be above 0 and at most {MAX_GRANT.days} days, got {lasts}")


async def _note(
    conn: Conn, project_id: UUID, project: str, *, by: str, action: str, **detail: object
) -> None:
    await store.note(conn, project_id, by=by, action=action, subject=f"project {project}", **detail)
