"""The statements of the queue kernel: workers, heartbeats, rescue, waiters."""

from datetime import timedelta
from uuid import UUID

from mailqueue.db import fetch
from mailqueue.db.fetch import Conn


async def start_worker(
    conn: Conn, *, kind: str, host: str, pid: int, version: str, launch_id: UUID
) -> int:
    """Register this process; return its worker id."""
    asked = {"kind": kind, "host": host, "pid": pid, "version": version, "launch_id": launch_id}
    return await fetch.value(conn, "start_worker", asked, int)


async def beat(conn: Conn, worker: int, *, is_stopping: bool) -> bool:
    """Record a heartbeat; return False if the worker was declared lost."""
    return await fetch.value(conn, "beat", {"worker": worker, "is_stopping": is_stopping}, bool)


async def stop_worker(conn: Conn, worker: int) -> None:
    """Unregister the worker; emails it still holds return to the queue."""
    await fetch.run(conn, "stop_worker", {"worker": worker})


async def rescue(conn: Conn, *, silence: timedelta, launch_id: UUID | None = None) -> int:
    """Return the emails of lost workers and of a launch known to be dead to the queue; return how
    many.
    """
    return await fetch.value(
        conn, "rescue_emails", {"silence": silence, "launch_id": launch_id}, int
    )


async def watch_rates(conn: Conn) -> int:
    """Pause sender accounts that have too many bounces or complaints; return their number."""
    return await fetch.value(conn, "watch_rates", None, int)


async def park(conn: Conn, queue: str, worker: int) -> None:
    """Ask for a NOTIFY when the queue gets work."""
    await fetch.run(conn, "park_worker", {"queue": queue, "worker": worker})


async def unpark(conn: Conn, queue: str, worker: int) -> None:
    """Ask for no more notifications."""
    await fetch.run(conn, "unpark_worker", {"queue": queue, "worker": worker})
