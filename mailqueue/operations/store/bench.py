"""SQL of measurements."""

from dataclasses import dataclass
from uuid import UUID

from mailqueue.db import fetch
from mailqueue.db.fetch import Conn


@dataclass(frozen=True, slots=True)
class Obstacles:
    """Mail and workers that would disturb a measurement; mails are counted up to 1,000."""

    emails: int
    workers: int


@dataclass(frozen=True, slots=True)
class SentCount:
    """The number of sent mails, and when the last was recorded, in seconds by the server's
    clock.
    """

    sent: int
    ended_at: float


async def obstacles(conn: Conn) -> Obstacles:
    """Return the mail and workers that would disturb a measurement."""
    return await fetch.one(conn, "find_bench_obstacles", None, Obstacles)


async def start(conn: Conn, name: str) -> UUID:
    """Insert the project of a measurement; return its id."""
    return await fetch.value(conn, "start_bench", {"name": name}, UUID)


async def add_sender(conn: Conn, project: UUID, *, port: int) -> int:
    """Insert a paused sender account at a port of this machine; return its id."""
    return await fetch.value(conn, "add_bench_sender", {"project": project, "port": port}, int)


async def resume_sender(conn: Conn, account: int) -> None:
    """Resume the account."""
    await fetch.run(conn, "resume_bench_sender", {"account": account})


async def ping(conn: Conn) -> None:
    """Run an empty statement, to measure a round trip."""
    await fetch.value(conn, "ping", None, int)


async def instant(conn: Conn) -> float:
    """Return the server's clock in seconds."""
    return await fetch.value(conn, "read_instant", None, float)


async def look(conn: Conn, name: str) -> SentCount:
    """Return the progress of the measurement."""
    return await fetch.one(conn, "read_bench_progress", {"name": name}, SentCount)


async def erase(conn: Conn, name: str, project: UUID) -> None:
    """Delete every row of the measurement; must run in a transaction."""
    await fetch.value(conn, "allow_by_hand", None, str)
    await fetch.run(conn, "erase_bench", {"name": name, "project": project})
