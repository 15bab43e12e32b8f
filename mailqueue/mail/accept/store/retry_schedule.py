"""SQL of retry schedules."""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from mailqueue.db.fetch import Conn, many, maybe, run


@dataclass(frozen=True, slots=True)
class LadderRow:
    """A stored retry schedule."""

    category: str
    steps: list[timedelta]
    max_attempts: int | None
    soft_wait: timedelta | None
    soft_retries: int
    on_exhausted: str


async def find_project(conn: Conn, project: str) -> UUID | None:
    """Return the id of the project of that name."""
    return await maybe(conn, "find_ladders_project", {"project": project}, UUID)


async def set_ladder(conn: Conn, project_id: UUID, *, row: LadderRow) -> None:
    """Insert or replace a schedule."""
    asked = {
        "project_id": project_id,
        "category": row.category,
        "steps": row.steps,
        "max_attempts": row.max_attempts,
        "soft_wait": row.soft_wait,
        "soft_retries": row.soft_retries,
        "on_exhausted": row.on_exhausted,
    }
    await run(conn, "set_ladder", asked)


async def drop_ladder(conn: Conn, project_id: UUID, *, category: str) -> None:
    """Delete a schedule, if there is one."""
    await run(conn, "drop_ladder", {"project_id": project_id, "category": category})


async def list_ladders(conn: Conn, project_id: UUID) -> list[LadderRow]:
    """Return a project's schedules."""
    return await many(conn, "list_ladders", {"project_id": project_id}, LadderRow)
