"""Data keys, grants and sealed values as rows; the only file here that runs SQL."""

from datetime import datetime, timedelta
from uuid import UUID

from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn, many, maybe, run, value
from mailqueue.vault.model import KeyGrant, ProjectVault, SealedRow, WrappedKey


async def find_data_key(conn: Conn, project_id: UUID, *, data_key_id: UUID) -> WrappedKey | None:
    """Find a project's data key by its id; None if there is none or it was destroyed."""
    params = {"project_id": project_id, "data_key_id": data_key_id}
    return await maybe(conn, "find_data_key", params, WrappedKey)


async def find_active_data_key(conn: Conn, project_id: UUID) -> WrappedKey | None:
    """Find the data key a project seals with, and keep it active until the caller commits."""
    return await maybe(conn, "find_active_data_key", {"project_id": project_id}, WrappedKey)


async def add_data_key(conn: Conn, key: WrappedKey) -> None:
    """Make a project's active data key, unless another caller was first."""
    params = {
        "id": key.id,
        "project_id": key.project_id,
        "master_key_id": key.master_key_id,
        "wrapped": key.wrapped,
    }
    await run(conn, "add_data_key", params)


async def list_master_key_ids(conn: Conn) -> list[str]:
    """List the master keys that are needed to unwrap what is stored."""
    return await many(conn, "list_master_key_ids", None, str)


async def hold_data_keys(conn: Conn, project_id: UUID) -> list[WrappedKey]:
    """Return all data keys of a project; others cannot change them until the caller commits."""
    return await many(conn, "list_data_keys", {"project_id": project_id}, WrappedKey)


async def list_keys_to_rewrap(conn: Conn, master_key_id: str) -> list[WrappedKey]:
    """List some data keys the platform wraps by another master key."""
    params = {"master_key_id": master_key_id}
    return await many(conn, "list_keys_to_rewrap", params, WrappedKey)


async def rewrap(conn: Conn, new: WrappedKey, *, old: bytes) -> bool:
    """Wrap a data key by another key; False when somebody did so meanwhile."""
    params = {
        "id": new.id,
        "master_key_id": new.master_key_id,
        "wrapped": new.wrapped,
        "wrapped_by": new.wrapped_by,
        "old": old,
    }
    return await run(conn, "rewrap_data_key", params) > 0


async def find_grant(conn: Conn, data_key_id: UUID) -> KeyGrant | None:
    """Find the grant to use a data key; None when there is none or it is over."""
    return await maybe(conn, "find_key_grant", {"data_key_id": data_key_id}, KeyGrant)


async def list_grants_to_rewrap(conn: Conn, master_key_id: str) -> list[KeyGrant]:
    """List some grants that are wrapped by another master key."""
    return await many(conn, "list_grants_to_rewrap", {"master_key_id": master_key_id}, KeyGrant)


async def rewrap_grant(conn: Conn, new: KeyGrant, *, old: bytes) -> bool:
    """Wrap a grant by another master key; False when it was changed meanwhile."""
    params = {
        "data_key_id": new.data_key_id,
        "master_key_id": new.master_key_id,
        "wrapped": new.wrapped,
        "old": old,
    }
    return await run(conn, "rewrap_key_grant", params) > 0


async def add_grant(conn: Conn, grant: KeyGrant, *, by: str) -> None:
    """Let a data key be used until an instant."""
    params = {
        "data_key_id": grant.data_key_id,
        "project_id": grant.project_id,
        "master_key_id": grant.master_key_id,
        "wrapped": grant.wrapped,
        "expires_at": grant.expires_at,
        "by": by,
    }
    await run(conn, "add_key_grant", params)


async def delete_grants(conn: Conn, project_id: UUID) -> int:
    """Let a project's data keys be used no more; return how many could be."""
    return await run(conn, "delete_key_grants", {"project_id": project_id})


async def forget_expired_grants(conn: Conn) -> int:
    """Delete the grants that are over; return their number."""
    return await value(conn, "forget_expired_grants", None, int)


async def instant_after(conn: Conn, wait: timedelta) -> datetime:
    """Return the instant that long from now by the database's clock."""
    return await value(conn, "instant_after", {"wait": wait}, datetime)


async def keep_project_lock(conn: Conn, project_id: UUID) -> None:
    """Have a project's mail wait from when on its secrets cannot be opened."""
    await run(conn, "keep_project_lock", {"project_id": project_id})


async def find_project(conn: Conn, project: str) -> UUID | None:
    """Return the id of the project of that name."""
    return await maybe(conn, "find_vault_project", {"project": project}, UUID)


async def list_projects_to_renew(
    conn: Conn, master_key_id: str, *, project: str | None, is_forced: bool
) -> list[UUID]:
    """List projects whose data key was made under another master key, or all that have one."""
    params = {"master_key_id": master_key_id, "project": project, "is_forced": is_forced}
    return await many(conn, "list_projects_to_renew", params, UUID)


async def retire_active_data_key(conn: Conn, project_id: UUID) -> None:
    """Seal nothing more with a project's active data key."""
    await run(conn, "retire_active_data_key", {"project_id": project_id})


async def list_keys_to_clear(conn: Conn) -> list[WrappedKey]:
    """List data keys with which nothing more is sealed, and something may still be."""
    return await many(conn, "list_keys_to_clear", None, WrappedKey)


async def note_key_cleared(conn: Conn, data_key_id: UUID) -> None:
    """Write down that nothing is sealed with a data key any more."""
    await run(conn, "note_key_cleared", {"id": data_key_id})


async def list_sealed(
    conn: Conn, statement: str, key: WrappedKey, *, after: str | None
) -> list[SealedRow]:
    """List some values sealed with a data key behind a row, by the statement of their column."""
    params = {"project_id": key.project_id, "data_key_id": key.id, "after": after}
    return await many(conn, statement, params, SealedRow)


async def replace_sealed(conn: Conn, statement: str, row: SealedRow, *, sealed: bytes) -> bool:
    """Put the value sealed anew in its place; False when it was changed meanwhile."""
    params = {"row_id": row.row_id, "old": row.sealed, "sealed": sealed}
    return await run(conn, statement, params) > 0


async def list_vaults(conn: Conn, project: str | None) -> list[ProjectVault]:
    """List how the secrets of projects are kept; None stands for all projects."""
    return await many(conn, "list_project_vaults", {"project": project}, ProjectVault)


async def note(
    conn: Conn, project_id: UUID | None, *, by: str, action: str, subject: str, **detail: object
) -> None:
    """Write down who changed what."""
    params = {
        "project_id": project_id,
        "by": by,
        "action": action,
        "subject": subject,
        "detail": Jsonb(detail),
    }
    await run(conn, "note_vault_change", params)
