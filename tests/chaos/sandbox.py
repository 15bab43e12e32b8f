"""What a scenario works on: a PostgreSQL it may break, a database, a sink, and a clock."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.chaos.producing import Producer, producing
from tests.chaos.result import ScenarioResult, compare
from tests.chaos.server import fresh_database
from tests.chaos.sink.process import SinkProcess, own_sink
from tests.concurrency.running import Command, Shipped, session, until, workers
from tests.mail.claim.steps import end_waits

IN_FLIGHT = 8
LONGEST_WAIT = "2 hours"
PATIENCE_SECONDS, SLOWEST_A_SECOND = 60.0, 20
_HASTEN = """
WITH due AS (UPDATE mailqueue.email_queue SET run_at = run_at - %s::interval
              WHERE status = 'pending' AND run_at > now() RETURNING lane_id, run_at)
INSERT INTO mailqueue.lane_signals (lane_id, due_at) SELECT lane_id, min(run_at) FROM due GROUP BY 1
"""
_UNFINISHED = "SELECT count(*) FROM mailqueue.email_queue WHERE status IN ('pending', 'assigned')"

_WAITING = """
SELECT q.status, count(*), min(q.run_at - now()), max(q.run_at - now()), l.blocked_reason,
       l.blocked_until - now(), m.blocked_reason, m.blocked_until - now(), m.failures,
       (SELECT array_agg((w.kind, w.status)) FROM mailqueue.worker_status AS w)
  FROM mailqueue.email_queue AS q JOIN mailqueue.lanes AS l ON l.id = q.lane_id
  LEFT JOIN mailqueue.limits AS m ON m.sender_account_id = l.sender_account_id
 WHERE q.status IN ('pending', 'assigned') GROUP BY q.status, l.id, m.id
"""


@dataclass(frozen=True, slots=True)
class ScenarioSize:
    """The size of a scenario: the number of mails, and the seconds over which they are accepted."""

    mails: int
    seconds: float

    @property
    def first(self) -> int:
        """Return the number of mails that are sent before the fault."""
        return min(self.mails // 10, 100)

    @property
    def patience(self) -> float:
        """Return the limit, in seconds, of waits that only depend on speed."""
        return PATIENCE_SECONDS + 2 * self.seconds + self.mails / SLOWEST_A_SECOND


@dataclass
class Sandbox:
    """The database and sink of one scenario, on a server that other scenarios use afterwards."""

    name: str
    server: Shipped
    database: DatabaseSettings
    sink: SinkProcess
    size: ScenarioSize
    started_at: float = field(default_factory=lambda: asyncio.get_running_loop().time())

    @property
    def user(self) -> str:
        """Return the role that workers log in as."""
        return urlsplit(self.database.url.reveal()).username or ""

    def session(self) -> AbstractAsyncContextManager[Conn]:
        return session(self.database)

    def workers(
        self, processes: int = 1, *, database: DatabaseSettings | None = None, **more: Any
    ) -> AbstractAsyncContextManager[Command]:
        options = {"in_flight": IN_FLIGHT, **more}
        return workers(database or self.database, processes=processes, **options)

    def producing(
        self, mails: int, *, seconds: float = 0.0, delivery: str = "resend", held: int = 0
    ) -> AbstractAsyncContextManager[Producer]:
        return producing(self.database, mails, seconds=seconds, delivery=delivery, held=held)

    def database_by(self, port: int) -> DatabaseSettings:
        """Return the same database through another port."""
        here = f":{self.server.start().port}/"
        url = self.database.url.reveal().replace(here, f":{port}/")
        return replace(self.database, url=Secret(url))

    async def taken(self, count: int) -> None:
        """Wait until the sink has accepted that many mails."""

        async def enough() -> bool:
            return (await self.sink.counts()).taken >= count

        await until(enough, seconds=self.size.patience)

    async def wait_for_faults(self, count: int = 1) -> int:
        """Wait until the sink's fault has occurred that many times; return the number of
        occurrences.
        """

        async def often() -> int:
            faults = (await self.sink.counts()).faults
            return faults if faults >= count else 0

        return await until(often, seconds=self.size.patience)

    async def settled(self, conn: Conn) -> None:
        """Wait until no mail is pending or assigned."""

        async def none_waits() -> bool:
            return bool(await make.scalar(conn, _UNFINISHED) == 0)

        await until(none_waits, seconds=self.size.patience)

    async def finished(self, conn: Conn) -> None:
        """Wait until no mail is pending or assigned, with every delay shortened."""

        async def none_waits() -> bool:
            await end_rests(conn)
            await hasten(conn, LONGEST_WAIT)
            return bool(await make.scalar(conn, _UNFINISHED) == 0)

        try:
            await until(none_waits, seconds=self.size.patience)
        except AssertionError as exc:
            exc.add_note(str(await make.rows(conn, _WAITING)))
            raise

    async def compare(
        self, conn: Conn, fault: str, *, faults: int, accepted: int | None = None
    ) -> ScenarioResult:
        ledger = await asyncio.to_thread(self.sink.read)
        count = "SELECT count(*) FROM mailqueue.emails"
        all_mail = await make.scalar(conn, count) if accepted is None else accepted
        found = await compare(
            conn, ledger, scenario=self.name, fault=fault, faults=faults, accepted=all_mail
        )
        found.seconds = asyncio.get_running_loop().time() - self.started_at
        return found


async def hasten(conn: Conn, by: str) -> None:
    """Move the due time of waiting mail by an interval, and wake idle workers, instead of
    waiting.
    """
    await conn.execute(_HASTEN, [by])
    await conn.execute("SELECT pg_notify('mailqueue_email_queue', '')")


async def end_rests(conn: Conn) -> None:
    """Make accounts with unreachable servers due for a probe now."""
    for table in ("limits", "lanes"):
        await end_waits(conn, "blocked_reason = 'unreachable'", of=table)


@asynccontextmanager
async def sandbox(name: str, server: Shipped, size: ScenarioSize) -> AsyncIterator[Sandbox]:
    """Create a fresh database with one sender account that sends to a fresh sink."""
    with tempfile.TemporaryDirectory(prefix="mailqueue-chaos-sink-") as folder:
        async with fresh_database(server) as database, own_sink(Path(folder)) as sink:
            async with session(database) as conn:
                await make.sender_account(conn, smtp_port=sink.port)
            yield Sandbox(name, server, database, sink, size)
