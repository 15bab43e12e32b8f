"""Counts as a worker would have written them, without the mail."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from uuid import UUID

from mailqueue.db.fetch import Conn
from tests import make


async def counted(
    conn: Conn,
    project_id: UUID,
    at: datetime,
    *,
    dimension: str = "total",
    value: str = "",
    is_test: bool = False,
    counts: Mapping[str, int] | None = None,
    sent: int = 0,
) -> None:
    """Insert counts of the quarter of an hour and of the minute of a time."""
    since = datetime(2000, 1, 1, tzinfo=UTC)
    for table, length in (("stats_quarters", 15), ("stats_minutes", 1)):
        row: Mapping[str, object] = {
            "project_id": project_id,
            "is_test": is_test,
            "dimension": dimension,
            "value": value,
            "value2": "",
            "started_at": at - (at - since) % timedelta(minutes=length),
            "sent": sent,
            **(counts or {}),
        }
        columns = ", ".join(row)
        places = ", ".join(["%s"] * len(row))
        query = f"INSERT INTO mailqueue.{table} ({columns}) VALUES ({places})"
        await conn.execute(query.encode(), list(row.values()))


async def account(conn: Conn, project_id: UUID, name: str, provider: str, *, reports: bool) -> int:
    """Insert a sender account with counts; return its number."""
    number: int = await make.sender_account(conn, project_id=project_id, name=name)
    await conn.execute(
        "INSERT INTO mailqueue.stats_accounts VALUES (%s, %s, %s, %s, %s)"
        " ON CONFLICT (sender_account_id) DO UPDATE SET provider = EXCLUDED.provider",
        (number, project_id, name, provider, datetime.now(UTC) if reports else None),
    )
    return number


async def answered(
    conn: Conn, project_id: UUID, number: int, at: datetime, times: Mapping[int, int]
) -> None:
    """Insert the attempts of a sender account by the time in which they were answered."""
    for up_to_ms, attempts in times.items():
        await conn.execute(
            "INSERT INTO mailqueue.stats_latency VALUES (%s, false, %s, %s, %s, %s)",
            (project_id, number, at, up_to_ms, attempts),
        )
