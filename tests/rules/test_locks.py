"""No login that may only enqueue can take a lock that delays mail."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from psycopg import errors

from mailqueue.db.fetch import Conn
from mailqueue.db.migrate import migrate
from mailqueue.db.sql import sql_folder
from mailqueue.mail.send.store import claims as claims_store
from mailqueue.maintenance import tasks
from mailqueue.maintenance.model import Task
from mailqueue.maintenance.tasks import open_context
from mailqueue.settings.archive import ArchiveSettings
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.wiring.files import ArchiveStores
from tests import make
from tests.conftest import Server
from tests.mail.claim.steps import claim, opened
from tests.rules.logins import login
from tests.rules.source import ROOT

pytestmark = pytest.mark.anyio

ROLES = ("producer", "worker", "api", "tracking", "dba")
# Advisory locks of earlier releases. Any login may hold them; no code waits for them any more.
FORMER = (
    "7316001", "7316002", "7316003",
    *(f"hashtextextended('mailqueue.{name}', 0)" for name in (
        "schema_migrations", "maintain.partitions", "maintain.archive", "maintain.retention")),
)  # fmt: skip
TABLES = ("lock_rows", "lane_gather", "leases")


@pytest.fixture
async def holder(
    request: pytest.FixtureRequest, server: Server, fresh_db: str
) -> AsyncIterator[Conn]:
    """A login with one role that holds every advisory lock mailqueue has ever used."""
    url = server.superuser_url(urlsplit(fresh_db).path[1:])
    async with login(url, f"mailqueue_{request.param}") as conn:
        for key in FORMER:
            await conn.execute(f"SELECT pg_advisory_lock({key})".encode())
        yield conn


@pytest.mark.parametrize("holder", ROLES, indirect=True)
@pytest.mark.parametrize("table", TABLES)
async def test_no_login_locks_a_row_or_a_table_of_ours(holder: Conn, table: str) -> None:
    for statement in (
        "SELECT FROM mailqueue.{} FOR UPDATE",
        "SELECT FROM mailqueue.{} FOR KEY SHARE",
        "LOCK TABLE mailqueue.{} IN ACCESS SHARE MODE",
    ):
        with pytest.raises(errors.InsufficientPrivilege):
            async with holder.transaction():
                await holder.execute(statement.format(table).encode())


@pytest.mark.parametrize("holder", ROLES, indirect=True)
async def test_mail_is_claimed_whatever_a_login_holds(
    holder: Conn, database: DatabaseSettings
) -> None:
    async with AsyncExitStack() as stack:
        (conn,) = await stack.enter_async_context(opened(database, 1))
        await stack.enter_async_context(holder.transaction())
        await conn.execute("SET statement_timeout = '20s'")
        await make.sender_account(conn)
        await make.queued_emails(conn, 3)
        assert (await claims_store.gather_lanes(conn)).woken >= 1
        assert len(await claim(conn, await make.worker(conn))) == 3
        await conn.execute("SELECT mailqueue.ensure_partitions(4)")
        await conn.execute("SELECT mailqueue.set_max_send_rate(50)")


@pytest.mark.parametrize("holder", ROLES, indirect=True)
async def test_the_schema_is_migrated_and_maintained_whatever_a_login_holds(
    holder: Conn, database: DatabaseSettings, tmp_path: Path
) -> None:
    told: list[str] = []
    stores = ArchiveStores(ArchiveSettings(tmp_path.as_uri(), None))
    async with holder.transaction(), asyncio.timeout(60):
        await migrate(database, told.append)
        async with open_context(database, stores, operator="x", advance=lambda _: None) as desk:
            done = await tasks.run(
                desk, [Task.PARTITIONS, Task.ARCHIVE, Task.RETENTION], tell=lambda _: None
            )

    assert told == []
    assert [(each.is_busy, each.report.needs) for each in done] == [(False, ())] * 3


def test_no_advisory_lock_is_taken_anywhere() -> None:
    """PostgreSQL lets every login take every advisory lock."""
    files = [
        path
        for folder in (sql_folder(), ROOT / "mailqueue", ROOT / "workers", ROOT / "scripts")
        for path in folder.rglob("*")
        if path.is_file() and path.suffix in ("", ".sql", ".py", ".sh")
    ]
    assert len(files) > 500
    taking = re.compile(r"pg_(try_)?advisory_", re.IGNORECASE)

    assert [str(path) for path in files if taking.search(path.read_text("utf-8"))] == []
