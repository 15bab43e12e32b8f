"""What health checks ask and tell the database; runs SQL for them."""

from collections.abc import Sequence
from dataclasses import dataclass

from mailqueue.contract.administration import HealthCheck
from mailqueue.db import fetch
from mailqueue.db.fetch import Conn


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """The server's process that serves us; `folder` is None where we may not know it."""

    pid: int
    folder: str | None


@dataclass(frozen=True, slots=True)
class Room:
    """How much is left at one place of the server."""

    place: str  # data, wal
    free_bytes: int
    total_bytes: int


@dataclass(frozen=True, slots=True)
class SpaceVerdict:
    """Below and above how many free bytes mail is refused and accepted, and whether it is now."""

    refuse_below: int
    accept_above: int
    is_refused: bool


async def read_health(conn: Conn) -> list[HealthCheck]:
    """Read view health."""
    return await fetch.many(conn, "read_health", None, HealthCheck)


async def may_tell(conn: Conn) -> bool:
    """Return whether this login may tell the view anything."""
    return await fetch.value(conn, "may_tell_health", None, bool)


async def find_process(conn: Conn) -> ServerProcess:
    """Return which process serves this connection and where its data lies."""
    return await fetch.one(conn, "find_data_directory", None, ServerProcess)


async def report_space(conn: Conn, host: str, rooms: Sequence[Room]) -> SpaceVerdict:
    """Tell how much room there is; without rooms only the database's size is looked at."""
    params = {
        "host": host,
        "places": [room.place for room in rooms],
        "free": [room.free_bytes for room in rooms],
        "total": [room.total_bytes for room in rooms],
    }
    return await fetch.one(conn, "report_space", params, SpaceVerdict)


async def note_books(conn: Conn, faults: Sequence[str]) -> None:
    """Keep what comparing the books found."""
    await fetch.run(conn, "note_books", {"faults": list(faults)})


async def emails_roughly(conn: Conn) -> int:
    """Return about how many mails there are."""
    return await fetch.value(conn, "count_emails_roughly", None, int)
