"""Sessions that their server ends in masses, freezes, limits or makes read-only."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from psycopg import sql

from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.chaos.result import ScenarioResult
from tests.chaos.sandbox import Sandbox, ScenarioSize
from tests.chaos.sink.faults import Fault
from tests.concurrency.running import Command, pids, until

EACH_MAIL_MS = 5
STORM_SECONDS = 0.1
OURS = "datname = current_database() AND application_name ^@ 'mailqueue/'"
_END = (
    f"SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM pg_stat_activity WHERE {OURS}"
)
_WRITERS = f"SELECT pid FROM pg_stat_activity WHERE {OURS} AND application_name = %s"
Inject = Callable[[Conn, Command], Awaitable[int]]


@asynccontextmanager
async def superuser(sandbox: Sandbox) -> AsyncIterator[Conn]:
    """Open a superuser's session in the scenario's database."""
    postmaster = await asyncio.to_thread(sandbox.server.start)
    name = urlsplit(sandbox.database.url.reveal()).path.removeprefix("/")
    url = sandbox.server.cluster.superuser_url(postmaster.port, name)
    async with connect(DatabaseSettings(Secret(url)), application_name="dba") as conn:
        yield conn


async def beside(
    sandbox: Sandbox, size: ScenarioSize, fault: str, inject: Inject
) -> ScenarioResult:
    """Cause the fault while two workers send and mail is accepted; then all of it is sent, once."""
    await sandbox.sink.obey(Fault.SLOW, wait_ms=EACH_MAIL_MS)
    async with sandbox.workers(2) as command, superuser(sandbox) as dba:
        await pids(dba, 2)
        async with sandbox.producing(size.mails, seconds=size.seconds) as mails:
            await sandbox.taken(size.first)
            faults = await inject(dba, command)
            await mails.done.wait()
        await sandbox.finished(dba)
        found = await sandbox.compare(dba, fault, faults=faults, accepted=mails.accepted)
    found.promise(found.statuses["sent"] == size.mails, f"{found.statuses}")
    found.promise(found.duplicated == 0, f"{found.duplicated} duplicates")
    found.promise(found.unknown == 0, f"{found.unknown} of unknown fate")
    return found


async def ended_in_storms(sandbox: Sandbox, size: ScenarioSize) -> ScenarioResult:
    """Every session of mailqueue is ended ten times a second."""

    async def inject(dba: Conn, _: Command) -> int:
        ended = 0
        for _turn in range(max(20, int(size.seconds / STORM_SECONDS))):
            ended += await make.scalar(dba, _END)
            await asyncio.sleep(STORM_SECONDS)
        return ended

    return await beside(sandbox, size, "pg_terminate_backend of all", inject)


async def frozen(sandbox: Sandbox, size: ScenarioSize) -> ScenarioResult:
    """The server's backends of the workers are frozen during statements."""

    async def inject(dba: Conn, _: Command) -> int:
        writers = [pid for (pid,) in await make.rows(dba, _WRITERS, "mailqueue/write")]
        for pid in writers:
            os.kill(pid, signal.SIGSTOP)
        await asyncio.sleep(max(1.5, size.seconds))
        for pid in writers:
            os.kill(pid, signal.SIGCONT)
        return len(writers)

    return await beside(sandbox, size, "SIGSTOP of backends", inject)


async def hurried(sandbox: Sandbox, size: ScenarioSize) -> ScenarioResult:
    """statement_timeout of the role is two milliseconds."""
    return await _with_setting(sandbox, size, "statement_timeout", "2ms", b"statement timeout")


async def made_read_only(sandbox: Sandbox, size: ScenarioSize) -> ScenarioResult:
    """The database accepts no writes for a while, as on a standby."""
    words = b"read-only transaction"
    return await _with_setting(sandbox, size, "default_transaction_read_only", "on", words)


async def _with_setting(
    sandbox: Sandbox, size: ScenarioSize, name: str, value: str, words: bytes
) -> ScenarioResult:
    async def inject(dba: Conn, command: Command) -> int:
        role = sql.Identifier(sandbox.user)
        database = sql.Identifier(dba.info.dbname)
        begin = sql.SQL("ALTER ROLE {} IN DATABASE {} SET {} = {}").format(
            role, database, sql.Identifier(name), sql.Literal(value)
        )
        end = sql.SQL("ALTER ROLE {} IN DATABASE {} RESET {}").format(
            role, database, sql.Identifier(name)
        )
        await dba.execute(begin)
        await make.scalar(dba, _END)

        async def complains() -> int:
            return (await asyncio.to_thread(command.log.read_bytes)).count(words)

        await until(complains)
        await asyncio.sleep(max(1.0, size.seconds))
        await dba.execute(end)
        await make.scalar(dba, _END)
        return await complains()

    return await beside(sandbox, size, f"{name} = {value}", inject)
