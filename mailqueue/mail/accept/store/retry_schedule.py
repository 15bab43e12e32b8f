"""SQL of retry schedules."""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from mailqueue.db.fetch import Conn, many, run
from mailqueue.db.statements.mail import retry_schedule as sql


@dataclass(frozen=True, slots=True)
class RetryScheduleRow:
    """A stored retry schedule."""

    category: str
    steps: list[timedelta]
    max_attempts: int | None
    soft_wait: timedelta | None
    soft_retries: int
    on_exhausted: str


async def set_retry_schedule(conn: Conn, project_id: UUID, *, row: RetryScheduleRow) -> None:
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
    await run(conn, sql.SET_RETRY_SCHEDULE, asked)


async def drop_retry_schedule(conn: Conn, project_id: UUID, *, category: str) -> None:
    """Delete a schedule, if there is one."""
    await run(conn, sql.DROP_RETRY_SCHEDULE, {"project_id": project_id, "category": category})


async def list_retry_schedules(conn: Conn, project_id: UUID) -> list[RetryScheduleRow]:
    """Return a project's schedules."""
    return await many(conn, sql.LIST_RETRY_SCHEDULES, {"project_id": project_id}, RetryScheduleRow)
