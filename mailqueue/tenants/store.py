"""Projects and API keys as rows; the only file here that runs SQL."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from uuid import UUID

from psycopg.errors import InvalidParameterValue, UniqueViolation
from psycopg.types.json import Jsonb

from mailqueue.core.errors import Conflict, InvalidField
from mailqueue.db.fetch import Conn, many, maybe, one, run, value
from mailqueue.tenants.model import ApiKey, Caller, Project


async def add_project(conn: Conn, name: str, *, by: str) -> UUID:
    """Make a project.

    Raises:
        InvalidField: the name is none, or taken.
    """
    with _refused():
        return await value(conn, "add_project", {"name": name, "by": by}, UUID)


async def read_project(conn: Conn, name: str) -> Project | None:
    """Read the project of that name."""
    return await maybe(conn, "read_project", {"name": name}, Project)


async def list_projects(conn: Conn) -> list[Project]:
    """Read all projects."""
    return await many(conn, "list_projects", None, Project)


async def change_project(conn: Conn, name: str, *, changes: Mapping[str, object], by: str) -> None:
    """Change settings of a project.

    Raises:
        InvalidField: naming the setting; nothing is changed.
    """
    with _refused():
        await run(conn, "change_project", {"name": name, "changes": Jsonb(changes), "by": by})


@contextmanager
def _refused() -> Iterator[None]:
    """Word a refusal of the database as ours."""
    try:
        yield
    except InvalidParameterValue as exc:
        field = exc.diag.column_name or ""
        why = (exc.diag.message_primary or str(exc)).removeprefix(f"{field}: ")
        raise InvalidField(field, why) from exc


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
