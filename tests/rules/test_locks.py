"""No lock that keeps mail waiting can be taken by a login that is only allowed to hand mail in."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from urllib.parse import urlsplit

import pytest
from psycopg import errors

from mailqueue.core.config import DatabaseSettings
from mailqueue.db.fetch import Conn
from mailqueue.mail import store
from tests import make
from tests.conftest import Server
from tests.queue.acting import claim, opened
from tests.rules.logins import login

pytestmark = pytest.mark.anyio

ROLES = ("producer", "worker", "api", "tracking", "dba")
# What earlier releases locked. Anybody may hold these numbers; nobody waits for them any more.
FORMER = (
    "7316001", "7316002", "7316003",
    *(f"hashtextextended('mailqueue.{name}', 0)" for name in (
        "schema_migrations", "maintain.partitions", "maintain.archive", "maintain.retention")),
)  # fmt: skip
TABLES = ("lock_rows", "lane_gather")


@pytest.fixture
async def stranger(
    request: pytest.FixtureRequest, server: Server, fresh_db: str
) -> AsyncIterator[Conn]:
    """A login with one role, that holds every number that was ever an advisory lock of ours."""
    url = server.superuser_url(urlsplit(fresh_db).path[1:])
    async with login(url, f"mailqueue_{request.param}") as conn:
        for key in FORMER:
            await conn.execute(f"SELECT pg_advisory_lock({key})".encode())
        yield conn


@pytest.mark.parametrize("stranger", ROLES, indirect=True)
@pytest.mark.parametrize("table", TABLES)
async def test_no_login_locks_a_row_or_a_table_of_ours(stranger: Conn, table: str) -> None:
    for statement in (
        "SELECT FROM mailqueue.{} FOR UPDATE",
        "SELECT FROM mailqueue.{} FOR KEY SHARE",
        "LOCK TABLE mailqueue.{} IN ACCESS SHARE MODE",
    ):
        with pytest.raises(errors.InsufficientPrivilege):
            async with stranger.transaction():
                await stranger.execute(statement.format(table).encode())


@pytest.mark.parametrize("stranger", ROLES, indirect=True)
async def test_mail_is_claimed_whatever_a_login_holds(
    stranger: Conn, database: DatabaseSettings
) -> None:
    async with AsyncExitStack() as stack:
        (conn,) = await stack.enter_async_context(opened(database, 1))
        await stack.enter_async_context(stranger.transaction())
        await conn.execute("SET statement_timeout = '20s'")
        await make.sender_account(conn)
        await make.queued_emails(conn, 3)
        assert (await store.gather_lanes(conn)).woken >= 1
        assert len(await claim(conn, await make.worker(conn))) == 3
        await conn.execute("SELECT mailqueue.ensure_partitions(4)")
        await conn.execute("SELECT mailqueue.set_max_send_rate(50)")
