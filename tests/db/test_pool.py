"""When PostgreSQL is unreachable, the error is one line with the reason and the fix."""

import asyncio
import os
import select
from dataclasses import replace
from urllib.parse import urlsplit

import pytest
from psycopg_pool import AsyncConnectionPool

from mailqueue.core.errors import ConfigError, Unavailable
from mailqueue.core.secret import Secret
from mailqueue.db.durable import FRESH_SECONDS
from mailqueue.db.fetch import Conn, many
from mailqueue.db.pool import Pool, borrow, connect, open_pool
from mailqueue.db.statements import schema as sql
from mailqueue.embedded.ports import free_port
from mailqueue.settings.environment import DatabaseSettings, DatabaseSource, Pooler

pytestmark = pytest.mark.anyio

PASSWORD = "correct-horse-battery"


def changed(dsn: str, old: str, new: str) -> DatabaseSettings:
    assert old in dsn
    return DatabaseSettings(Secret(dsn.replace(old, new, 1)))


async def complaint(settings: DatabaseSettings) -> str:
    with pytest.raises(Unavailable) as raised:
        async with connect(settings):
            pass
    text = str(raised.value)
    assert "\n" not in text
    assert PASSWORD not in text
    return text


async def test_a_server_that_is_away_is_named_with_host_and_port() -> None:
    port = free_port()
    settings = DatabaseSettings(Secret(f"postgresql://ann:{PASSWORD}@127.0.0.1:{port}/mail"))

    assert await complaint(settings) == (
        f"PostgreSQL does not answer at 127.0.0.1:{port}: "
        "start it, or correct MAILQUEUE_DATABASE_URL"
    )


async def test_an_embedded_server_that_is_away_is_started_by_up() -> None:
    url = Secret(f"postgresql://ann:{PASSWORD}@127.0.0.1:{free_port()}/mail")

    text = await complaint(DatabaseSettings(url, DatabaseSource.EMBEDDED))

    assert text.endswith(": start it with `mailqueue up`")


async def test_a_wrong_password_names_the_user_only(shared_db: str) -> None:
    settings = changed(shared_db, ":mailqueue_test@", f":{PASSWORD}@")

    assert 'refused the password of user "mailqueue_test"' in await complaint(settings)


async def test_a_missing_database_is_named(shared_db: str) -> None:
    settings = changed(shared_db, urlsplit(shared_db).path, "/nowhere")

    assert 'has no database "nowhere"' in await complaint(settings)


async def test_an_unknown_host_is_named() -> None:
    settings = DatabaseSettings(Secret(f"postgresql://ann:{PASSWORD}@db.invalid/mail"))

    assert 'the host name "db.invalid" of PostgreSQL cannot be resolved' in await complaint(
        settings
    )


async def test_a_string_libpq_cannot_read_is_refused_without_repeating_it() -> None:
    with pytest.raises(ConfigError, match="is not a connection string") as raised:
        async with connect(DatabaseSettings(Secret(f"{PASSWORD} is my password"))):
            pass

    assert PASSWORD not in str(raised.value)


async def test_no_connection_string_at_all_says_what_to_set() -> None:
    with pytest.raises(ConfigError, match="set MAILQUEUE_DATABASE_URL"):
        async with connect(DatabaseSettings(Secret(""), DatabaseSource.NONE)):
            pass


async def test_libpq_variables_name_the_server(
    shared_db: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = urlsplit(shared_db)
    for name, value in {
        "PGHOST": parts.hostname,
        "PGPORT": str(parts.port),
        "PGUSER": parts.username,
        "PGPASSWORD": parts.password,
        "PGDATABASE": parts.path[1:],
    }.items():
        monkeypatch.setitem(os.environ, name, str(value))

    async with connect(DatabaseSettings(Secret(""), DatabaseSource.LIBPQ)) as conn:
        assert conn.info.dbname == parts.path[1:]


async def test_a_pool_lends_no_more_than_its_largest_size(shared_db: str) -> None:
    settings = DatabaseSettings(Secret(shared_db), pool_max=2)

    async with open_pool(settings) as pool, pool.connection() as one, pool.connection() as two:
        assert one is not two
        assert pool.max_size == 2


async def test_a_connection_cut_while_it_lay_in_the_pool_is_not_lent(shared_db: str) -> None:
    settings = DatabaseSettings(Secret(shared_db), pool_max=1)
    async with open_pool(settings) as pool, connect(settings) as other:
        async with pool.connection() as lent:
            pid = lent.info.backend_pid
        await other.execute("SELECT pg_terminate_backend(%s, 60000)", (pid,))

        async with borrow(pool, settings) as lent:
            assert lent.info.backend_pid != pid


@pytest.mark.parametrize(
    ("answered_ago", "checks"), [(0, 0), (FRESH_SECONDS + 1, 1)], ids=["just now", "long ago"]
)
async def test_a_connection_is_asked_for_a_sign_of_life_unless_it_has_just_given_one(
    shared_db: str, monkeypatch: pytest.MonkeyPatch, answered_ago: int, checks: int
) -> None:
    asked = []

    async def ask(conn: Conn) -> None:
        asked.append(conn)

    monkeypatch.setattr(AsyncConnectionPool, "check_connection", staticmethod(ask))
    settings = replace(DatabaseSettings(Secret(shared_db), pool_max=1), pooler=Pooler.NONE)
    async with open_pool(settings) as pool:
        async with pool.connection() as lent:
            await lent.execute("SELECT 1")
            lent._answered_at -= answered_ago  # type: ignore[attr-defined]

        async with borrow(pool, settings) as lent:
            assert len(asked) == checks


async def test_what_the_server_has_sent_meanwhile_is_read_before_the_connection_is_lent(
    shared_db: str,
) -> None:
    settings = DatabaseSettings(Secret(shared_db), pool_max=1)
    async with open_pool(settings) as pool, connect(settings) as other:
        async with pool.connection() as lent:
            await lent.execute("LISTEN something")
        await other.execute("NOTIFY something")
        select.select([lent.pgconn.socket], [], [], 60)

        async with borrow(pool, settings) as again:
            assert again is lent
            assert again.is_fresh()  # type: ignore[attr-defined]


async def test_a_connection_cut_while_it_is_used_says_that_the_server_went_away(
    shared_db: str,
) -> None:
    settings = DatabaseSettings(Secret(shared_db))

    async def cut_and_use(pool: Pool, other: Conn) -> None:
        async with borrow(pool, settings) as lent:
            await other.execute("SELECT pg_terminate_backend(%s)", (lent.info.backend_pid,))
            await lent.execute("SELECT 1")

    async with open_pool(settings) as pool, connect(settings) as other:
        with pytest.raises(Unavailable, match="PostgreSQL"):
            await cut_and_use(pool, other)


async def test_behind_a_transaction_pooler_nothing_is_prepared(shared_db: str) -> None:
    settings = replace(DatabaseSettings(Secret(shared_db)), pooler=Pooler.TRANSACTION)

    async with connect(settings) as conn:
        for _ in range(8):
            await many(conn, sql.LIST_ROLES, {"names": ["x"]}, str)
        found = await conn.execute("SELECT count(*) FROM pg_prepared_statements")
        assert await found.fetchone() == (0,)


async def test_each_connection_commits_by_itself(fresh_db: str) -> None:
    settings = DatabaseSettings(Secret(fresh_db))
    async with connect(settings) as one, connect(settings) as two:
        await one.execute("SET ROLE mailqueue_owner")
        await one.execute("CREATE TABLE mailqueue.seen (n integer)")

        await asyncio.wait_for(two.execute("SELECT FROM mailqueue.seen"), 30)
