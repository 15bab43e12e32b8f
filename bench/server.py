"""Runs a PostgreSQL for one benchmark, with every commit on disk."""

import asyncio
import os
import signal
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from mailqueue.core.secret import Secret
from mailqueue.db.migrate import migrate
from mailqueue.db.pool import connect
from mailqueue.db.provision import provision
from mailqueue.embedded.binaries import find_binaries
from mailqueue.embedded.cluster import Cluster
from mailqueue.embedded.service_user import service_account
from mailqueue.settings.environment import DatabaseSettings

NAME = "mailqueue"
WANTED_BUFFERS_MB = 2048


@dataclass(frozen=True, slots=True)
class Server:
    """A running server; `pid` is its first process, the parent of all others."""

    cluster: Cluster
    pid: int
    version: str
    superuser_url: str
    buffers_mb: int

    def database(self, name: str = NAME) -> DatabaseSettings:
        """Return a database of it as the role that owns mailqueue's schema."""
        place = self.superuser_url.rpartition("@")[2].partition("/")[0]
        return DatabaseSettings(Secret(f"postgresql://{NAME}:{NAME}@{place}/{name}"))

    @property
    def settings(self) -> dict[str, str]:
        """Return the settings of the server that matter for the figures."""
        return {
            "postgresql": self.version,
            "fsync": "on",
            "synchronous_commit": "on",
            "shared_buffers": f"{self.buffers_mb}MB",
        }


@asynccontextmanager
async def own_server(**settings: str) -> AsyncIterator[Server]:
    """Run a fresh server with mailqueue's schema until the block ends."""
    buffers_mb = min(WANTED_BUFFERS_MB, memory_mb() // 4)
    wanted = {
        "shared_buffers": f"{buffers_mb}MB",
        "max_wal_size": "8GB",
        "fsync": "on",
        "synchronous_commit": "on",
        **settings,
    }
    with tempfile.TemporaryDirectory(prefix="mailqueue-bench-") as name:
        cluster = await asyncio.to_thread(_made, name, wanted)
        postmaster, process = await asyncio.to_thread(cluster.start)
        stopped = asyncio.current_task()
        assert stopped is not None
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.cancel)
        try:
            server = Server(
                cluster,
                postmaster.pid,
                cluster.binaries.version,
                cluster.superuser_url(postmaster.port),
                buffers_mb,
            )
            await make_database(server, NAME)
            yield server
        finally:
            await asyncio.to_thread(cluster.stop, process)


def _made(name: str, settings: dict[str, str]) -> Cluster:
    account = service_account(None)
    home = Path(name).resolve()
    folder = home / "server"
    folder.mkdir()
    for each in (home, folder):
        each.chmod(0o700 if account.is_me else 0o755)
    found = find_binaries()
    if not account.can_enter(found.bin / "postgres"):
        found = found.copied(home / "postgresql")
    cluster = Cluster(folder, found, account, settings)
    cluster.make()
    return cluster


async def make_database(server: Server, name: str) -> DatabaseSettings:
    """Make a database with mailqueue's schema in it."""
    database = await empty_database(server, name)
    await migrate(database, progress=lambda _: None)
    return database


async def empty_database(server: Server, name: str) -> DatabaseSettings:
    """Create an empty database in which the owner of mailqueue's schema may create it."""
    superuser = DatabaseSettings(Secret(server.superuser_url))
    await provision(superuser, role=NAME, password=NAME, database=name)
    return server.database(name)


async def settle_down(server: Server, name: str = NAME) -> None:
    """Write out the changes of earlier work, so that a measurement does not include it."""
    url = f"{server.superuser_url.rpartition('/')[0]}/{name}"
    async with connect(DatabaseSettings(Secret(url)), application_name="bench") as conn:
        await conn.execute("VACUUM ANALYZE")
        await conn.execute("CHECKPOINT")


def memory_mb() -> int:
    """Return the memory of this machine."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20
