"""Data keys as rows; the only file here that runs SQL."""

from dataclasses import dataclass, field
from uuid import UUID

from mailqueue.db.fetch import Conn, many, maybe, run


@dataclass(frozen=True, slots=True)
class WrappedKey:
    """A data key as it lies in the database."""

    id: UUID
    project_id: UUID
    master_key_id: str
    wrapped: bytes = field(repr=False)


async def find_data_key(conn: Conn, project_id: UUID, *, data_key_id: UUID) -> WrappedKey | None:
    """Find a project's data key by its id; None if there is none or it was destroyed."""
    params = {"project_id": project_id, "data_key_id": data_key_id}
    return await maybe(conn, "find_data_key", params, WrappedKey)


async def find_active_data_key(conn: Conn, project_id: UUID) -> WrappedKey | None:
    """Find the data key a project seals with, and keep it active until the caller commits."""
    return await maybe(conn, "find_active_data_key", {"project_id": project_id}, WrappedKey)


async def add_data_key(conn: Conn, key: WrappedKey) -> None:
    """Make a project's active data key, unless another caller was first."""
    await run(
        conn,
        "add_data_key",
        {
            "id": key.id,
            "project_id": key.project_id,
            "master_key_id": key.master_key_id,
            "wrapped": key.wrapped,
        },
    )


async def list_master_key_ids(conn: Conn) -> list[str]:
    """List the master keys that are needed to unwrap what is stored."""
    return await many(conn, "list_master_key_ids", None, str)
