"""SQL of health checks."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from mailqueue.contract.admin import HealthCheck
from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.statements.operations import health as sql


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """The server process of this connection; `folder` is None without the right to read it."""

    pid: int
    folder: str | None


@dataclass(frozen=True, slots=True)
class Room:
    """Free space at one folder of the server."""

    place: str  # data, wal
    free_bytes: int
    total_bytes: int


@dataclass(frozen=True, slots=True)
class SpaceVerdict:
    """Free bytes below which mail is refused and above which it is accepted, and the current
    state.
    """

    refuse_below: int
    accept_above: int
    is_refused: bool


@dataclass(frozen=True, slots=True)
class LateKind:
    """A kind with rows past their retention, and the oldest row that was seen."""

    kind: str
    table_name: str
    oldest: datetime


@dataclass(frozen=True, slots=True)
class ReportSource:
    """What tells that two servers have the same data, and how old it is on each."""

    first_project: UUID | None
    as_of: datetime


async def read_health(conn: Conn) -> list[HealthCheck]:
    """Return view health."""
    return await fetch.many(conn, sql.READ_HEALTH, None, HealthCheck)


async def may_tell(conn: Conn) -> bool:
    """Return whether this login may store results for the view."""
    return await fetch.value(conn, sql.MAY_TELL_HEALTH, None, bool)


async def may_read_retention(conn: Conn) -> bool:
    """Return whether this login may look through the tables that have a retention."""
    return await fetch.value(conn, sql.MAY_READ_RETENTION, None, bool)


async def kinds_past_retention(conn: Conn, *, days: int, pages: int) -> list[LateKind]:
    """Return kinds with rows `days` past their retention; reads at most `pages` of each table."""
    asked = {"days": days, "pages": pages}
    return await fetch.many(conn, sql.LIST_KINDS_PAST_RETENTION, asked, LateKind)


async def find_process(conn: Conn) -> ServerProcess:
    """Return the server process of this connection, and its data folder."""
    return await fetch.one(conn, sql.FIND_DATA_DIRECTORY, None, ServerProcess)


async def report_space(conn: Conn, host: str, rooms: Sequence[Room]) -> SpaceVerdict:
    """Store the free space; without folders only the database's size is compared."""
    params = {
        "host": host,
        "places": [room.place for room in rooms],
        "free": [room.free_bytes for room in rooms],
        "total": [room.total_bytes for room in rooms],
    }
    return await fetch.one(conn, sql.REPORT_SPACE, params, SpaceVerdict)


async def note_books(conn: Conn, faults: Sequence[str]) -> None:
    """Store the differences found in the books."""
    await fetch.run(conn, sql.NOTE_BOOKS, {"faults": list(faults)})


async def emails_roughly(conn: Conn) -> int:
    """Return an estimate of the number of mails."""
    return await fetch.value(conn, sql.ESTIMATE_EMAIL_COUNT, None, int)


async def read_report_source(conn: Conn) -> ReportSource:
    """Return the first project, and the time up to which counts are complete."""
    return await fetch.one(conn, sql.READ_REPORT_SOURCE, None, ReportSource)
