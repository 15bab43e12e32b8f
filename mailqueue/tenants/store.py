"""Projects and API keys as rows; the only file here that runs SQL."""

from datetime import datetime
from uuid import UUID

from psycopg.errors import UniqueViolation

from mailqueue.core.errors import Conflict
from mailqueue.db.fetch import Conn, many, maybe, one, run
from mailqueue.tenants.model import ApiKey, Caller


async def find_project(conn: Conn, project: str) -> UUID | None:
    """Give the id of the project of that name."""
    return await maybe(conn, "find_project_id", {"project": project}, UUID)


async def add_key(
    conn: Conn,
    project_id: UUID,
    *,
    name: str,
    key_hash: bytes,
    hint: str,
    is_test: bool,
    expires_at: datetime | None,
) -> ApiKey:
    """Make a key's row.

    Raises:
        Conflict: the project has a key of that name.
    """
    params = {
        "project_id": project_id,
        "name": name,
        "key_hash": key_hash,
        "hint": hint,
        "is_test": is_test,
        "expires_at": expires_at,
    }
    try:
        return await one(conn, "add_api_key", params, ApiKey)
    except UniqueViolation as exc:
        if exc.diag.constraint_name != "api_keys_project_id_name_key":
            raise
        raise Conflict(f"key {name} exists already in this project") from exc


async def find_key(conn: Conn, key_hash: bytes) -> Caller | None:
    """Find who the key in force with that hash speaks for."""
    return await maybe(conn, "find_api_key", {"key_hash": key_hash}, Caller)


async def list_keys(conn: Conn, project: str) -> list[ApiKey]:
    """List a project's keys, newest first."""
    return await many(conn, "list_api_keys", {"project": project}, ApiKey)


async def revoke_key(conn: Conn, project: str, *, name: str) -> int:
    """Put a key out of force; say how many that were."""
    return await run(conn, "revoke_api_key", {"project": project, "name": name})
