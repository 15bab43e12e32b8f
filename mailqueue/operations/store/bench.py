"""The statements of measuring on a real database."""

from dataclasses import dataclass
from uuid import UUID

from mailqueue.db import fetch
from mailqueue.db.fetch import Conn


@dataclass(frozen=True, slots=True)
class Obstacles:
    """What else goes on in this database; mails are counted up to 1,000."""

    emails: int
    workers: int


@dataclass(frozen=True, slots=True)
class SentCount:
    """How many mails were sent, and when the last was recorded, in the server's seconds."""

    sent: int
    ended_at: float


async def obstacles(conn: Conn) -> Obstacles:
    """Look at what a measurement would meet."""
    return await fetch.one(conn, "find_bench_obstacles", None, Obstacles)


async def start(conn: Conn, name: str) -> UUID:
    """Make the project of a measurement."""
    return await fetch.value(conn, "start_bench", {"name": name}, UUID)


async def add_sender(conn: Conn, project: UUID, *, port: int) -> int:
    """Return it a sender account that leads to a port of this machine, paused."""
    return await fetch.value(conn, "add_bench_sender", {"project": project, "port": port}, int)


async def resume_sender(conn: Conn, account: int) -> None:
    """Let the account send."""
    await fetch.run(conn, "resume_bench_sender", {"account": account})


async def ping(conn: Conn) -> None:
    """Go to the server and back."""
    await fetch.value(conn, "ping", None, int)


async def instant(conn: Conn) -> float:
    """Read the server's clock."""
    return await fetch.value(conn, "read_instant", None, float)


async def look(conn: Conn, name: str) -> SentCount:
    """See how far the measurement is."""
    return await fetch.one(conn, "look_at_bench", {"name": name}, SentCount)


async def erase(conn: Conn, name: str, project: UUID) -> None:
    """Take out every row of the measurement; in a transaction, as it is refused otherwise."""
    await fetch.value(conn, "allow_by_hand", None, str)
    await fetch.run(conn, "erase_bench", {"name": name, "project": project})
