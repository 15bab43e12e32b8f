"""SQL of API keys."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from psycopg.errors import UniqueViolation
from psycopg.types.json import Jsonb

from mailqueue.core.errors import Conflict
from mailqueue.db.fetch import Conn, many, maybe, run, value
from mailqueue.db.refusals import refusals
from mailqueue.db.statements.emails import api as api_sql
from mailqueue.db.statements.projects import keys as keys_sql
from mailqueue.projects.model import ApiKey


class StoredCaller(NamedTuple):
    """The caller of a key, as stored."""

    id: UUID
    project_id: UUID
    project: str
    is_test: bool
    trap_sender: str | None
    name: str
    scopes: list[str]
    requests_per_second: float | None
    project_requests_per_second: float | None


async def set_actor(conn: Conn, by: str) -> None:
    """Set the actor of the audit events until the transaction ends."""
    await run(conn, keys_sql.SET_ACTOR, {"by": by})


async def act_for(
    conn: Conn,
    project_id: UUID | None,
    *,
    by: str,
    key_id: UUID | None = None,
    is_test: bool | None = None,
    is_read_only: bool = False,
) -> bool:
    """Set the API role and the project (None: all) until the transaction ends.

    `is_test` is the mode of the key, None for both. Return False if the key is not valid.
    """
    params = {
        "project": "*" if project_id is None else str(project_id),
        "by": by,
        "key": key_id,
        "mode": None if is_test is None else "test" if is_test else "live",
        "read_only": is_read_only,
    }
    return await value(conn, api_sql.ACT_FOR, params, bool)


async def find_key(conn: Conn, key_hash: bytes, *, address: str | None) -> StoredCaller | None:
    """Return the caller of the active key with that hash; store `address` as its last use."""
    return await maybe(
        conn, keys_sql.FIND_API_KEY, {"key_hash": key_hash, "address": address}, StoredCaller
    )


async def keys_in_force(conn: Conn, ids: Collection[UUID]) -> list[UUID]:
    """Return those of these keys that are active now."""
    return await many(conn, keys_sql.LIST_VALID_KEYS, {"ids": list(ids)}, UUID)


async def issue_key(
    conn: Conn,
    project_id: UUID,
    *,
    name: str,
    key_hash: bytes,
    hint: str,
    is_test: bool,
    scopes: Sequence[str],
    expires_at: datetime | None,
    requests_per_second: int | None,
) -> UUID:
    """Insert a key.

    Raises:
        Conflict: the project has a key of that name.
        InvalidField: the project or the installation does not issue such keys now.
    """
    params = {
        "project_id": project_id,
        "name": name,
        "key_hash": key_hash,
        "hint": hint,
        "is_test": is_test,
        "scopes": list(scopes),
        "expires_at": expires_at,
        "requests_per_second": requests_per_second,
    }
    with _refused(name):
        return await value(conn, keys_sql.ISSUE_API_KEY, params, UUID)


async def read_key(conn: Conn, project_id: UUID, key_id: UUID) -> ApiKey | None:
    """Return a key of a project."""
    return await maybe(
        conn, keys_sql.READ_API_KEY, {"project_id": project_id, "id": key_id}, ApiKey
    )


async def find_named(conn: Conn, project_id: UUID, *, name: str) -> UUID | None:
    """Return the id of the active key of that name, else of the newest one that had it."""
    return await maybe(
        conn, keys_sql.FIND_API_KEY_NAMED, {"project_id": project_id, "name": name}, UUID
    )


async def list_keys(
    conn: Conn, project_id: UUID, *, before: datetime | None, before_id: UUID | None, limit: int
) -> list[ApiKey]:
    """Return a project's keys, newest first."""
    params = {"project_id": project_id, "before": before, "before_id": before_id, "most": limit}
    return await many(conn, keys_sql.LIST_API_KEYS, params, ApiKey)


async def list_active(conn: Conn, project_id: UUID, *, limit: int) -> list[ApiKey]:
    """Return a project's keys that are valid now, newest first."""
    params = {"project_id": project_id, "most": limit}
    return await many(conn, keys_sql.LIST_ACTIVE_API_KEYS, params, ApiKey)


async def change_key(
    conn: Conn, project_id: UUID, key_id: UUID, *, changes: Mapping[str, object]
) -> bool:
    """Change an active key; return whether there was one.

    Raises:
        Conflict: the project has a key of the new name.
    """
    params = {"project_id": project_id, "id": key_id, "changes": Jsonb(dict(changes))}
    with _refused(str(changes.get("name"))):
        return await value(conn, keys_sql.CHANGE_API_KEY, params, bool)


async def rotate_key(
    conn: Conn,
    project_id: UUID,
    key_id: UUID,
    *,
    key_hash: bytes,
    hint: str,
    grace: timedelta,
    expires_at: datetime | None,
) -> UUID | None:
    """Replace an active key and return the new id; None where there is no such key."""
    params = {
        "project_id": project_id,
        "id": key_id,
        "key_hash": key_hash,
        "hint": hint,
        "grace": grace,
        "expires_at": expires_at,
    }
    with _refused(""):
        return await maybe(conn, keys_sql.ROTATE_API_KEY, params, UUID)


async def revoke_key(conn: Conn, project_id: UUID, key_id: UUID, *, reason: str | None) -> bool:
    """Revoke a key; return whether it was active."""
    params = {"project_id": project_id, "id": key_id, "reason": reason}
    return await value(conn, keys_sql.REVOKE_API_KEY, params, bool)


@contextmanager
def _refused(name: str) -> Iterator[None]:
    """Raise an error of ours in place of the database's refusal."""
    try:
        with refusals(otherwise=""):
            yield
    except UniqueViolation as exc:
        if exc.diag.constraint_name != "api_keys_project_id_name_key":
            raise
        raise Conflict(f"key {name} already exists in this project") from exc
