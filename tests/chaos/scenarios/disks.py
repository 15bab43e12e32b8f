"""A PostgreSQL whose disk is full for a while."""

import asyncio
import errno
import os
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psycopg

from tests.chaos.result import ScenarioResult
from tests.chaos.sandbox import Sandbox, ScenarioSize, sandbox
from tests.chaos.server import shipped_in
from tests.chaos.sink.faults import Fault
from tests.concurrency.running import Shipped, until

DISK_MIB = 320
SMALL = {"max_wal_size": "64MB", "min_wal_size": "32MB", "shared_buffers": "64MB"}
LEFT_BYTES = 100_000
FULL_SECONDS = 1.0
NO_SPACE = b"No space left on device"
# Mail would be refused long before; here no worker watches the disk space.
_UNGUARDED = "UPDATE mailqueue.system_settings SET value = '0' WHERE name = 'free_space_refuse'"


async def disk_full(theirs: Sandbox, size: ScenarioSize) -> ScenarioResult:
    """Accepted mail stays accepted, and is sent once there is space."""
    with tempfile.TemporaryDirectory(prefix="mailqueue-disk-", dir="/tmp") as name:
        disk = Path(name) / "disk"
        if complaint := _mounted(disk):
            return ScenarioResult(theirs.name, "disk full", 0, 0, left_out=complaint)
        try:
            async with _small_server(disk) as server, sandbox(theirs.name, server, size) as small:
                return await _filled(small, size, disk)
        finally:
            _unmounted(disk)


MAX_TRIES = 20


def _mounted(disk: Path) -> str:
    """Mount a small disk; return the reason if that is impossible."""
    if os.geteuid() != 0:
        return "only root can mount a small disk"
    disk.parent.chmod(0o755)
    disk.mkdir()
    options = f"size={DISK_MIB}m,mode=755"
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(disk)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        # Its log must not be what fills the disk.
        (disk / "postgresql.log").symlink_to(disk.parent / "log")
    return done.stderr.strip()


def lacks_small_disk() -> str | None:
    """Return why no small disk can be mounted here, after an attempt."""
    with tempfile.TemporaryDirectory(prefix="mailqueue-disk-", dir="/tmp") as name:
        disk = Path(name) / "disk"
        if complaint := _mounted(disk):
            return complaint
        _unmounted(disk)
        return None


def _unmounted(disk: Path) -> None:
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def _complaints(disk: Path) -> int:
    """Return how often the server logged that there is no space left."""
    return (disk.parent / "log").read_bytes().count(NO_SPACE)


@asynccontextmanager
async def _small_server(disk: Path) -> AsyncIterator[Shipped]:
    running = shipped_in(disk, settings=SMALL)
    server = await asyncio.to_thread(running.__enter__)
    try:
        yield server
    finally:
        await asyncio.to_thread(running.__exit__, None, None, None)


async def _filled(small: Sandbox, size: ScenarioSize, disk: Path) -> ScenarioResult:
    await small.sink.obey(Fault.SLOW, wait_ms=5)
    async with small.session() as conn:
        await conn.execute(_UNGUARDED)
    async with small.workers(2), small.producing(size.mails, seconds=size.seconds) as mails:
        await small.taken(size.first)
        ballast = disk / "ballast"
        _fill(ballast, disk)

        async def complains() -> bool:
            await asyncio.to_thread(_ask_for_space, small.server)
            return _complaints(disk) > 0

        await until(complains)
        await asyncio.sleep(FULL_SECONDS)
        ballast.unlink()
        await asyncio.to_thread(_started_again, small.server)
        await mails.done.wait()
        async with small.session() as conn:
            await small.settled(conn)
            faults = _complaints(disk)
            found = await small.compare(
                conn, "no space left", faults=faults, accepted=mails.accepted
            )
    found.promise(found.duplicated == 0, f"{found.duplicated} duplicates")
    found.promise(found.unknown == 0, f"{found.unknown} of unknown fate")
    return found


def _fill(ballast: Path, disk: Path) -> None:
    """Use up the free space, except for a little; the server uses some meanwhile."""
    with ballast.open("wb") as file:
        for _ in range(MAX_TRIES):
            try:
                os.posix_fallocate(file.fileno(), 0, _free_bytes(disk) - LEFT_BYTES)
            except OSError as exc:
                if exc.errno not in (errno.ENOSPC, errno.EINVAL):  # EINVAL: nothing is left
                    raise
            else:
                return


def _free_bytes(disk: Path) -> int:
    room = os.statvfs(disk)
    return room.f_bavail * room.f_bsize


def _started_again(server: Shipped) -> None:
    """Start the server again if it stopped."""
    before = server.process
    server.start()
    if before is not None and server.process is not before:
        before.wait()


def _ask_for_space(server: Shipped) -> None:
    """Make the server begin a new segment of its log, which needs more space than is left."""
    url = server.cluster.superuser_url(server.cluster._last_port())
    try:
        with psycopg.connect(url, autocommit=True, connect_timeout=2) as admin:
            admin.execute("SELECT pg_switch_wal()")
    except psycopg.OperationalError:
        return  # it is down, or has no room for this either
