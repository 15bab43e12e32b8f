"""SQL of measurements."""

from dataclasses import dataclass
from uuid import UUID

from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.statements.operations import bench as sql


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
    return await fetch.one(conn, sql.FIND_BENCH_OBSTACLES, None, Obstacles)


async def start(conn: Conn, name: str) -> UUID:
    """Insert the project of a measurement; return its id."""
    return await fetch.value(conn, sql.START_BENCH, {"name": name}, UUID)


async def add_sender(conn: Conn, project: UUID, *, port: int) -> int:
    """Insert a paused sender account at a port of this machine; return its id."""
    return await fetch.value(conn, sql.ADD_BENCH_SENDER, {"project": project, "port": port}, int)


async def resume_sender(conn: Conn, account: int) -> None:
    """Resume the account."""
    await fetch.run(conn, sql.RESUME_BENCH_SENDER, {"account": account})


async def ping(conn: Conn) -> None:
    """Run an empty statement, to measure a round trip."""
    await fetch.value(conn, sql.PING, None, int)


async def instant(conn: Conn) -> float:
    """Return the server's clock in seconds."""
    return await fetch.value(conn, sql.READ_INSTANT, None, float)


async def look(conn: Conn, name: str) -> SentCount:
    """Return the progress of the measurement."""
    return await fetch.one(conn, sql.READ_BENCH_PROGRESS, {"name": name}, SentCount)


async def erase(conn: Conn, name: str, project: UUID) -> None:
    """Delete every row of the measurement; must run in a transaction."""
    await fetch.value(conn, sql.ALLOW_BY_HAND, None, str)
    await fetch.run(conn, sql.ERASE_BENCH, {"name": name, "project": project})
