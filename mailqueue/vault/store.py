"""Data keys, grants and sealed values as rows; the only file here that runs SQL."""

from datetime import datetime, timedelta
from uuid import UUID

from psycopg.types.json import Jsonb

from mailqueue.contract.maintenance import ProjectVault
from mailqueue.db.fetch import Conn, many, maybe, run, value
from mailqueue.db.sql import ManyRows, NoRows
from mailqueue.db.statements import vault as vault_sql
from mailqueue.db.statements.users import second_factors as second_factors_sql
from mailqueue.vault.model import (
    AuditKey,
    KeyGrant,
    SealedRow,
    SealedSecondFactor,
    WrappedKey,
)

NO_PROJECT = UUID(int=0)
"""Project of keys of the installation."""


async def find_data_key(conn: Conn, project_id: UUID, *, data_key_id: UUID) -> WrappedKey | None:
    """Return a project's data key by its id; None if it does not exist or was destroyed."""
    params = {"project_id": project_id, "data_key_id": data_key_id}
    return await maybe(conn, vault_sql.FIND_DATA_KEY, params, WrappedKey)


async def find_active_data_key(conn: Conn, project_id: UUID) -> WrappedKey | None:
    """Return a project's active data key, locked until the caller commits, or None."""
    return await maybe(conn, vault_sql.FIND_ACTIVE_DATA_KEY, {"project_id": project_id}, WrappedKey)


async def add_data_key(conn: Conn, key: WrappedKey) -> None:
    """Insert a project's active data key, unless another caller did so first."""
    params = {
        "id": key.id,
        "project_id": key.project_id,
        "master_key_id": key.master_key_id,
        "wrapped": key.wrapped,
    }
    await run(conn, vault_sql.ADD_DATA_KEY, params)


async def list_master_key_ids(conn: Conn) -> list[str]:
    """Return the ids of the master keys that wrap stored keys."""
    return await many(conn, vault_sql.LIST_MASTER_KEY_IDS, None, str)


async def hold_data_keys(conn: Conn, project_id: UUID) -> list[WrappedKey]:
    """Return all data keys of a project, locked until the caller commits."""
    return await many(conn, vault_sql.LIST_DATA_KEYS, {"project_id": project_id}, WrappedKey)


async def list_keys_to_rewrap(conn: Conn, master_key_id: str) -> list[WrappedKey]:
    """Return some data keys that another master key wraps."""
    params = {"master_key_id": master_key_id}
    return await many(conn, vault_sql.LIST_KEYS_TO_REWRAP, params, WrappedKey)


async def rewrap(conn: Conn, new: WrappedKey, *, old: bytes) -> bool:
    """Replace the wrapping of a data key; return False if it was changed meanwhile."""
    params = {
        "id": new.id,
        "master_key_id": new.master_key_id,
        "wrapped": new.wrapped,
        "wrapped_by": new.wrapped_by,
        "old": old,
    }
    return await run(conn, vault_sql.REWRAP_DATA_KEY, params) > 0


async def find_grant(conn: Conn, data_key_id: UUID) -> KeyGrant | None:
    """Return the grant for a data key; None if there is none or it has expired."""
    return await maybe(conn, vault_sql.FIND_KEY_GRANT, {"data_key_id": data_key_id}, KeyGrant)


async def list_grants_to_rewrap(conn: Conn, master_key_id: str) -> list[KeyGrant]:
    """Return some grants that another master key wraps."""
    return await many(
        conn, vault_sql.LIST_GRANTS_TO_REWRAP, {"master_key_id": master_key_id}, KeyGrant
    )


async def rewrap_grant(conn: Conn, new: KeyGrant, *, old: bytes) -> bool:
    """Replace the wrapping of a grant; return False if it was changed meanwhile."""
    params = {
        "data_key_id": new.data_key_id,
        "master_key_id": new.master_key_id,
        "wrapped": new.wrapped,
        "old": old,
    }
    return await run(conn, vault_sql.REWRAP_KEY_GRANT, params) > 0


async def add_grant(conn: Conn, grant: KeyGrant, *, by: str) -> None:
    """Insert a grant to use a data key until a time."""
    params = {
        "data_key_id": grant.data_key_id,
        "project_id": grant.project_id,
        "master_key_id": grant.master_key_id,
        "wrapped": grant.wrapped,
        "expires_at": grant.expires_at,
        "by": by,
    }
    await run(conn, vault_sql.ADD_KEY_GRANT, params)


async def delete_grants(conn: Conn, project_id: UUID) -> int:
    """Delete the grants of a project's data keys and return their number."""
    return await run(conn, vault_sql.DELETE_KEY_GRANTS, {"project_id": project_id})


async def forget_expired_grants(conn: Conn) -> int:
    """Delete expired grants and return their number."""
    return await value(conn, vault_sql.FORGET_EXPIRED_GRANTS, None, int)


async def instant_after(conn: Conn, wait: timedelta) -> datetime:
    """Return the time after a wait, by the database's clock."""
    return await value(conn, vault_sql.INSTANT_AFTER, {"wait": wait}, datetime)


async def keep_project_lock(conn: Conn, project_id: UUID) -> None:
    """Update from when on a project's mail waits because its secrets cannot be opened."""
    await run(conn, vault_sql.KEEP_PROJECT_LOCK, {"project_id": project_id})


async def find_project(conn: Conn, project: str) -> UUID | None:
    """Return the id of a project by its name, or None."""
    return await maybe(conn, vault_sql.FIND_VAULT_PROJECT, {"project": project}, UUID)


async def list_projects_to_renew(
    conn: Conn, master_key_id: str, *, project: str | None, is_forced: bool
) -> list[UUID]:
    """Return projects with a data key created under another master key, or all with one."""
    params = {"master_key_id": master_key_id, "project": project, "is_forced": is_forced}
    return await many(conn, vault_sql.LIST_PROJECTS_TO_RENEW, params, UUID)


async def retire_active_data_key(conn: Conn, project_id: UUID) -> None:
    """Retire a project's active data key: nothing more is sealed with it."""
    await run(conn, vault_sql.RETIRE_ACTIVE_DATA_KEY, {"project_id": project_id})


async def list_keys_to_clear(conn: Conn) -> list[WrappedKey]:
    """Return retired data keys with which values may still be sealed."""
    return await many(conn, vault_sql.LIST_KEYS_TO_CLEAR, None, WrappedKey)


async def note_key_cleared(conn: Conn, data_key_id: UUID) -> None:
    """Record that no value is sealed with a data key any more."""
    await run(conn, vault_sql.NOTE_KEY_CLEARED, {"id": data_key_id})


async def list_sealed(
    conn: Conn, statement: ManyRows, key: WrappedKey, *, after: str | None
) -> list[SealedRow]:
    """Return the next values sealed with a data key, read with the statement of their column."""
    params = {"project_id": key.project_id, "data_key_id": key.id, "after": after}
    return await many(conn, statement, params, SealedRow)


async def replace_sealed(conn: Conn, statement: NoRows, row: SealedRow, *, sealed: bytes) -> bool:
    """Replace a sealed value; return False if it was changed meanwhile."""
    params = {"row_id": row.row_id, "old": row.sealed, "sealed": sealed}
    return await run(conn, statement, params) > 0


async def list_vaults(conn: Conn, project: str | None) -> list[ProjectVault]:
    """Return the key states of projects; None stands for all projects."""
    return await many(conn, vault_sql.LIST_PROJECT_VAULTS, {"project": project}, ProjectVault)


async def note(
    conn: Conn, project_id: UUID | None, *, by: str, action: str, subject: str, **detail: object
) -> None:
    """Insert an audit record of a change."""
    params = {
        "project_id": project_id,
        "by": by,
        "action": action,
        "subject": subject,
        "detail": Jsonb(detail),
    }
    await run(conn, vault_sql.NOTE_VAULT_CHANGE, params)


async def list_audit_keys(conn: Conn) -> list[AuditKey]:
    """Return the keys of the audit log, oldest first."""
    return await many(conn, vault_sql.LIST_AUDIT_KEYS, None, AuditKey)


async def add_audit_key(conn: Conn, key: AuditKey) -> None:
    """Insert a key of the audit log."""
    params = {
        "id": key.id,
        "master_key_id": key.master_key_id,
        "wrapped": key.wrapped,
        "made_under": key.made_under,
    }
    await run(conn, vault_sql.ADD_AUDIT_KEY, params)


async def rewrap_audit_key(conn: Conn, new: AuditKey, *, old: bytes) -> bool:
    """Replace the wrapping of a key of the audit log; return False if it was changed meanwhile."""
    params = {
        "id": new.id,
        "master_key_id": new.master_key_id,
        "wrapped": new.wrapped,
        "old": old,
    }
    return await run(conn, vault_sql.REWRAP_AUDIT_KEY, params) > 0


async def list_second_factors_to_reseal(
    conn: Conn, master_key_id: str, *, after: UUID | None
) -> list[SealedSecondFactor]:
    """Return some second factors that another master key seals, by user, after a user."""
    params = {"master_key_id": master_key_id, "after": after}
    return await many(
        conn, second_factors_sql.LIST_SECOND_FACTORS_TO_RESEAL, params, SealedSecondFactor
    )


async def reseal_second_factor(conn: Conn, new: SealedSecondFactor, *, old: bytes) -> bool:
    """Replace a sealed second factor; return False if it was changed meanwhile."""
    params = {
        "user_id": new.user_id,
        "master_key_id": new.master_key_id,
        "sealed": new.sealed,
        "old": old,
    }
    return await run(conn, second_factors_sql.RESEAL_SECOND_FACTOR, params) > 0
