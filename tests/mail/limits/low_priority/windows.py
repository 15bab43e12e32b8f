"""Windows of mail of low priority: set, closed and open."""

import json
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from mailqueue.db.fetch import Conn
from tests import make

LOW = 3


def around(now: datetime, *, opens: int, closes: int, zone: str = "UTC") -> str:
    """Return the window between two moments, in minutes from now."""
    begin, end = (
        (now + timedelta(minutes=minutes)).astimezone(ZoneInfo(zone)) for minutes in (opens, closes)
    )
    return f"{begin:%H:%M}-{end:%H:%M} {zone}"


async def now(conn: Conn) -> datetime:
    found: datetime = await make.scalar(conn, "SELECT clock_timestamp()")
    return found


async def close(conn: Conn, project: str = "default", *, minutes: int = 60) -> datetime:
    """Set a window that opens in so many minutes; return when it does."""
    at = await now(conn)
    await change(conn, around(at, opens=minutes, closes=minutes + 60), project)
    return (at + timedelta(minutes=minutes)).replace(second=0, microsecond=0)


async def change(conn: Conn, window: str | None, project: str = "default") -> dict[str, Any]:
    changes = json.dumps({"low_priority_window": window})
    found: dict[str, Any] = await make.scalar(
        conn, "SELECT mailqueue.change_project(%s, %s::jsonb)", project, changes
    )
    return found


async def outside_window(conn: Conn) -> UUID:
    """Return a due mail of low priority in project shop, whose window opens in an hour."""
    project = await make.project(conn, "shop")
    await make.sender_account(conn, project_id=project, name="relay")
    await close(conn, "shop")
    return await make.queued_email(conn, project="shop", priority=LOW)
