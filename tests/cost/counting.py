"""Counts the cost of work on its own PostgreSQL, in figures that do not depend on speed.

Statements and plans are lines of the server's log; commits and bytes are records of its write-ahead
log, full-page images left out; fsyncs and buffers are its statistics, read once all sessions ended.
"""

import asyncio
import re
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields, replace
from typing import Self

from psycopg import sql

from bench.flushes import flushes
from bench.server import NAME, Server, own_server, settle_down
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make, scratch

DRIVER = "cost/driver"
"""Application name of sessions whose statements are not counted: they prepare and wait."""
SETTINGS = {
    "log_statement": "all",
    "log_planner_stats": "on",
    "log_line_prefix": "%d|%a|",
    "shared_buffers": "128MB",
    # Nothing happens by itself.
    "autovacuum": "off",
    "checkpoint_timeout": "1h",
    "wal_writer_delay": "10s",
    "bgwriter_lru_maxpages": "0",
    "jit": "off",
}
POLL_SECONDS = 0.02
QUIET_SECONDS = 0.06
"""Seconds without a write after which a server has finished its work."""
LONG_SECONDS = 60.0
# Of other processes than those that are measured.
_FOREIGN = ("XLOG/", "Standby/", "Total")
_RECORD = re.compile(r"^(\S+)\s+(\d+) \(\s*[\d.]+\)\s+(\d+) \(", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of some work, or of one unit of it."""

    statements: float
    """Statements that sessions sent, each a round trip; those that ask a pooled connection too."""
    plans: float
    """Plans that PostgreSQL made, for statements inside functions too."""
    commits: float
    """Transactions that wrote."""
    fsyncs: float
    """Flushes of the write-ahead log."""
    wal_bytes: float
    """Bytes of records in the write-ahead log without full-page images."""
    buffers: float
    """Pages that were looked at, in memory or on disk."""

    def minus(self, other: Self) -> "Cost":
        return Cost(*(getattr(self, f.name) - getattr(other, f.name) for f in fields(self)))

    def over(self, units: int) -> "Cost":
        return Cost(*(getattr(self, f.name) / units for f in fields(self)))


@dataclass(frozen=True, slots=True)
class Counting:
    """A server, and a session of it that is in no measured database."""

    server: Server
    conn: Conn

    async def copy(self, name: str) -> DatabaseSettings:
        """Make a database with mailqueue's schema; return it."""
        await self.conn.execute(
            sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE {} STRATEGY {}").format(
                *(sql.Identifier(each) for each in (name, NAME, NAME, scratch.strategy()))
            )
        )
        # One connection in each pool: which of several is lent would depend on the clock.
        return replace(self.server.database(name), pool_max=1)

    async def of(self, name: str, work: Callable[[], Awaitable[None]]) -> Cost:
        """Return the cost of `work`, which opens its own sessions of a database and closes them."""
        await self._alone(name)
        at, log = await self._position(), self._log_size()
        before = await self._statistics(name)
        await work()
        await self._alone(name)
        after = await self._statistics(name)
        statements, plans = self._logged(name, log)
        commits, wal_bytes = await self._written(at)
        return Cost(
            statements, plans, commits, after[0] - before[0], wal_bytes, after[1] - before[1]
        )

    async def quiet(self) -> None:
        """Wait until the server has written nothing for QUIET_SECONDS."""
        last, since = await self._position(), 0.0
        while since < QUIET_SECONDS:
            await asyncio.sleep(POLL_SECONDS)
            now = await self._position()
            last, since = (last, since + POLL_SECONDS) if now == last else (now, 0.0)

    async def _position(self) -> str:
        return str(await make.scalar(self.conn, "SELECT pg_current_wal_insert_lsn()"))

    async def _alone(self, name: str) -> None:
        """Wait until no session is left; each reports its statistics when it ends."""
        open_ = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s"
        end = time.monotonic() + LONG_SECONDS
        while await make.scalar(self.conn, open_, name):
            assert time.monotonic() < end, "a session is left open"
            await asyncio.sleep(POLL_SECONDS)

    async def _statistics(self, name: str) -> tuple[int, int]:
        pages = "SELECT blks_hit + blks_read FROM pg_stat_database WHERE datname = %s"
        await self.conn.execute(
            "SELECT pg_stat_force_next_flush()"
        )  # of this session, what it did before
        flushed = (await flushes(self.conn)).flushes
        return flushed, int(await make.scalar(self.conn, pages, name))

    def _log_size(self) -> int:
        return self.server.cluster.log.stat().st_size

    def _logged(self, name: str, since: int) -> tuple[int, int]:
        with self.server.cluster.log.open("rb") as log:
            log.seek(since)
            text = log.read().decode("utf-8", "replace")
        lines = [
            line.partition("LOG:  ")[2]
            for line in text.splitlines()
            if line.startswith(f"{name}|") and not line.startswith(f"{name}|{DRIVER}|")
        ]
        statements = sum(line.startswith(("statement: ", "execute ")) for line in lines)
        return statements, sum(line.startswith("PLANNER STATISTICS") for line in lines)

    async def _written(self, since: str) -> tuple[int, int]:
        """Return the commits and the bytes of records since a position."""
        cluster = self.server.cluster
        # Records are read from files: what is in memory has to be there first.
        await self.conn.execute("SELECT pg_switch_wal()")
        until = await make.scalar(self.conn, "SELECT pg_current_wal_flush_lsn()")
        command = (
            *(str(cluster.binaries.bin / "pg_waldump"), "--stats=record"),
            *(f"--path={cluster.folder / 'pg_wal'}", f"--start={since}", f"--end={until}"),
        )
        done = await asyncio.to_thread(
            subprocess.run, command, capture_output=True, text=True, check=False
        )
        if done.returncode != 0 and "WAL statistics" not in done.stdout:
            raise RuntimeError(f"pg_waldump: {done.stderr}")
        kinds = [
            (kind, int(count), int(size))
            for kind, count, size in _RECORD.findall(done.stdout)
            if not kind.startswith(_FOREIGN)
        ]
        commits = sum(count for kind, count, _ in kinds if kind == "Transaction/COMMIT")
        return commits, sum(size for _, _, size in kinds)


@asynccontextmanager
async def counting() -> AsyncIterator[Counting]:
    """Run a server with repeatable figures during the block."""
    async with own_server(**SETTINGS) as server:
        await settle_down(server)  # else sessions would prune what migrating left, now or then
        superuser = DatabaseSettings(Secret(server.superuser_url))
        async with connect(superuser, application_name="cost/control") as conn:
            yield Counting(server, conn)
