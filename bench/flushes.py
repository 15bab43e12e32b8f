"""Counts what durability costs: commits of one database, and flushes of the write-ahead log."""

from dataclasses import dataclass

from mailqueue.db.fetch import Conn

# Any of its processes flushes the log of a server; version 18 counts that beside other I/O.
_FLUSHES_BEFORE_18 = "SELECT wal_sync FROM pg_stat_wal"
_FLUSHES = "SELECT coalesce(sum(fsyncs), 0) FROM pg_stat_io WHERE object = 'wal'"
_COMMITS = "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"


@dataclass(frozen=True, slots=True)
class Flushes:
    """What a server has done so far; sessions that are connected may be a second behind."""

    commits: int
    flushes: int

    def since(self, before: "Flushes") -> "Flushes":
        """Return what was done in between."""
        return Flushes(self.commits - before.commits, self.flushes - before.flushes)


async def flushes(conn: Conn) -> Flushes:
    """Read the counters now."""
    asked = _FLUSHES if conn.info.server_version >= 180000 else _FLUSHES_BEFORE_18
    return Flushes(await _number(conn, _COMMITS), await _number(conn, asked))


async def _number(conn: Conn, question: str) -> int:
    row = await (await conn.execute(question.encode())).fetchone()
    assert row is not None
    return int(row[0])
