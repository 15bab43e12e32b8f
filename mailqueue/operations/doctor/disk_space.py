"""Report the free disk space of the server to PostgreSQL, which SQL cannot measure.

Only a process on the server's host can. It reports every half minute, and every second while space
is low; processes on other hosts compare the size of the database with its limit.
"""

import asyncio
import os
import socket
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.operations.store import health as health_store
from mailqueue.operations.store.health import Room, ServerProcess, SpaceVerdict
from mailqueue.settings.environment import DatabaseSource, Settings
from mailqueue.telemetry.log import get_logger

REPORT_SECONDS = 30.0
LOOK_SECONDS = 1.0
SHORT = 2
"""Space is low below this multiple of the space at which mail is accepted again."""

_PROCESSES = Path("/proc")

log = get_logger(__name__)


@asynccontextmanager
async def watching_space(settings: Settings) -> AsyncIterator[None]:
    """Report during the block, on a connection of its own that is closed between reports."""
    link = Link(settings.database, "mailqueue/space")
    task = asyncio.create_task(_watch_forever(link, settings), name="space")
    task.add_done_callback(_ended)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await link.close()


def _ended(task: asyncio.Task[None]) -> None:
    """Log the end of the watch: mail is still sent, but disk space is no longer watched."""
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("space.unwatched", error=str(error).splitlines()[0])


async def report_once(conn: Conn, settings: Settings) -> tuple[list[Path], SpaceVerdict]:
    """Report once; return the folders that were measured and the verdict."""
    folders = places_of(await health_store.find_process(conn), settings)
    verdict = await health_store.report_space(conn, socket.gethostname(), look(folders))
    return folders, verdict


async def _watch_forever(link: Link, settings: Settings) -> None:
    while True:
        folders, verdict = await link.call(lambda conn: report_once(conn, settings))
        if is_short(look(folders), verdict):
            await asyncio.sleep(LOOK_SECONDS)
            continue
        await link.close()
        reported_at = time.monotonic()
        while time.monotonic() - reported_at < REPORT_SECONDS:
            await asyncio.sleep(LOOK_SECONDS)
            if is_short(look(folders), verdict):
                break


def is_short(rooms: Sequence[Room], verdict: SpaceVerdict) -> bool:
    """Return whether space is low enough to report every second. Pure."""
    return verdict.is_refused or any(
        room.free_bytes < verdict.accept_above * SHORT for room in rooms
    )


def look(folders: Sequence[Path]) -> list[Room]:
    """Return the free space of each folder that can be read."""
    rooms = []
    for place, folder in zip(("data", "wal"), folders, strict=False):
        try:
            found = os.statvfs(folder)
        except OSError:
            continue  # not readable, or gone
        room = Room(place, found.f_bavail * found.f_frsize, found.f_blocks * found.f_frsize)
        rooms.append(room)
    return rooms


def places_of(process: ServerProcess, settings: Settings) -> list[Path]:
    """Return the server's data and log folders, if it runs on this host."""
    is_ours = settings.database.source is DatabaseSource.EMBEDDED
    if not is_ours and not _is_here(process.pid):
        return []
    data = Path(process.folder) if process.folder else _working_folder(process.pid)
    return [data, data / "pg_wal"] if data else []


def _is_here(pid: int) -> bool:
    """Return whether the process runs on this host and is PostgreSQL, outside of a container."""
    try:
        return (_PROCESSES / str(pid) / "cmdline").read_bytes().startswith(b"postgres")
    except OSError:
        return False


def _working_folder(pid: int) -> Path | None:
    """Return the data folder: the working directory of a server process, readable by its user and
    root.
    """
    try:
        return (_PROCESSES / str(pid) / "cwd").readlink()
    except OSError:
        return None
