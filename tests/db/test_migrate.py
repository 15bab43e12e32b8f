"""Migrations, on small schemas: the promises do not depend on mailqueue's schema."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from mailqueue.core.errors import ConfigError, Unavailable
from mailqueue.core.secret import Secret
from mailqueue.db.apply import MigrationFailed
from mailqueue.db.migrate import migrate, require_current, status
from mailqueue.db.pool import connect
from mailqueue.db.roles import ROLES
from mailqueue.settings.environment import DatabaseSettings, Pooler
from tests.conftest import Server
from tests.db.conftest import FIRST

pytestmark = pytest.mark.anyio

SECOND = "ALTER TABLE mailqueue.a ADD COLUMN m integer;"
FUNCTION = "CREATE OR REPLACE FUNCTION mailqueue.f() RETURNS integer LANGUAGE sql AS 'SELECT {}';"
VIEW = (
    "DROP VIEW IF EXISTS mailqueue.v CASCADE;"
    "CREATE VIEW mailqueue.v AS SELECT n, mailqueue.f() AS f FROM mailqueue.a;"
)


async def rows(settings: DatabaseSettings, query: str) -> list[tuple[object, ...]]:
    async with connect(settings) as conn:
        found = await conn.execute(query.encode())
        return await found.fetchall()


async def test_each_file_is_applied_once_and_in_order(
    empty: DatabaseSettings, folder: Path
) -> None:
    (folder / "migrations" / "0002_second.sql").write_text(SECOND)
    told: list[str] = []

    first = await migrate(empty, told.append, folder=folder)
    again = await migrate(empty, told.append, folder=folder)

    assert first.migrations == ("0001_first.sql", "0002_second.sql")
    assert again.migrations == ()
    assert told == ["applying 0001_first.sql and 0002_second.sql"]
    assert await rows(empty, "SELECT n, m FROM mailqueue.a") == [(1, None)]


async def test_many_files_are_reported_in_one_line(empty: DatabaseSettings, folder: Path) -> None:
    (folder / "migrations" / "0002_second.sql").write_text(SECOND)
    (folder / "migrations" / "0003_third.sql").write_text(SECOND.replace(" m ", " o "))
    told: list[str] = []

    await migrate(empty, told.append, folder=folder)

    assert told == ["applying 3 migrations, 0001_first.sql to 0003_third.sql"]


async def test_two_runners_at_once_apply_each_file_once(
    empty: DatabaseSettings, folder: Path
) -> None:
    runs = await asyncio.gather(*(migrate(empty, folder=folder) for _ in range(4)))

    assert sorted(len(run.migrations) for run in runs) == [0, 0, 0, 1]
    assert await rows(empty, "SELECT n FROM mailqueue.a") == [(1,)]


async def test_databases_of_one_cluster_can_be_migrated_at_once(
    empty_db: str, fresh_db: str, folder: Path
) -> None:
    """Roles belong to the whole cluster: the second process finds them created."""
    settings = [DatabaseSettings(Secret(dsn)) for dsn in (empty_db, fresh_db)]

    first, _ = await asyncio.gather(migrate(settings[0], folder=folder), migrate(settings[1]))

    assert first.migrations == ("0001_first.sql",)


async def test_a_concurrent_index_is_built_while_other_runners_wait(
    empty: DatabaseSettings, folder: Path
) -> None:
    """A process waiting in a statement would hold the snapshot that the index build waits for."""
    index = "-- no-transaction\nCREATE INDEX CONCURRENTLY a_idx ON mailqueue.a (n);"
    (folder / "migrations" / "0002_index.sql").write_text(index)

    async with asyncio.timeout(30):
        await asyncio.gather(*(migrate(empty, folder=folder) for _ in range(3)))

    assert await rows(empty, "SELECT to_regclass('mailqueue.a_idx') IS NOT NULL") == [(True,)]


async def test_a_file_that_fails_leaves_nothing_and_is_named_with_its_line(
    empty: DatabaseSettings, folder: Path
) -> None:
    broken = "CREATE TABLE mailqueue.b ();\nALTER TABLE mailqueue.nowhere ADD COLUMN m integer;"
    (folder / "migrations" / "0002_broken.sql").write_text(broken + "\nSELECT * FORM x;")

    with pytest.raises(MigrationFailed, match=r"0002_broken\.sql:3: syntax error"):
        await migrate(empty, folder=folder)
    (folder / "migrations" / "0002_broken.sql").write_text(broken)
    with pytest.raises(MigrationFailed, match=r'0002_broken\.sql.*"mailqueue.nowhere"'):
        await migrate(empty, folder=folder)

    assert await rows(empty, "SELECT to_regclass('mailqueue.b')") == [(None,)]
    assert (await status(empty, folder=folder)).version == 1


async def test_an_applied_file_that_was_changed_is_refused(
    empty: DatabaseSettings, folder: Path
) -> None:
    await migrate(empty, folder=folder)
    (folder / "migrations" / "0001_first.sql").write_text(FIRST + " ")

    with pytest.raises(ConfigError, match=r"0001_first\.sql was changed after it was applied"):
        await migrate(empty, folder=folder)


async def test_a_database_newer_than_the_code_is_one_clear_error(
    empty: DatabaseSettings, folder: Path
) -> None:
    second = folder / "migrations" / "0002_second.sql"
    second.write_text(SECOND)
    await migrate(empty, folder=folder)
    second.unlink()

    newer = (
        "the database schema is at 2, this version of mailqueue knows up to 1: upgrade mailqueue"
    )
    with pytest.raises(ConfigError, match=newer):
        await migrate(empty, folder=folder)
    async with connect(empty) as conn:
        with pytest.raises(ConfigError, match=newer):
            await require_current(conn, folder=folder)


async def test_a_database_older_than_the_code_is_told_to_migrate(
    empty: DatabaseSettings, folder: Path
) -> None:
    async with connect(empty) as conn:
        with pytest.raises(
            ConfigError, match="at 0, this version of mailqueue needs 1: run `mailqueue mig"
        ):
            await require_current(conn, folder=folder)
        await migrate(empty, folder=folder)
        await require_current(conn, folder=folder)


async def test_a_file_with_a_number_below_the_newest_is_refused(
    empty: DatabaseSettings, folder: Path
) -> None:
    (folder / "migrations" / "0003_third.sql").write_text(SECOND)
    await migrate(empty, folder=folder)
    (folder / "migrations" / "0002_late.sql").write_text("SELECT 1;")

    with pytest.raises(ConfigError, match=r"0002_late\.sql has a lower number than applied"):
        await migrate(empty, folder=folder)


@pytest.mark.parametrize("name", ["1_x.sql", "0002-x.sql", "0001_again.sql"])
async def test_misnamed_files_are_refused_before_anything_runs(
    empty: DatabaseSettings, folder: Path, name: str
) -> None:
    (folder / "migrations" / name).write_text("SELECT 1;")

    with pytest.raises(ConfigError, match=name):
        await migrate(empty, folder=folder)

    assert await rows(empty, "SELECT to_regnamespace('mailqueue')") == [(None,)]


async def test_functions_views_and_grants_follow_their_files(
    empty: DatabaseSettings, folder: Path
) -> None:
    (folder / "functions" / "f.sql").write_text(FUNCTION.format(1))
    (folder / "views" / "v.sql").write_text(VIEW)
    (folder / "grants" / "dba.sql").write_text("GRANT SELECT ON mailqueue.v TO mailqueue_dba;")
    readable = (
        "SELECT f, has_table_privilege('mailqueue_dba', 'mailqueue.v', 'SELECT') FROM mailqueue.v"
    )
    assert (await migrate(empty, folder=folder)).objects == 3
    assert await rows(empty, readable) == [(1, True)]
    assert (await migrate(empty, folder=folder)).objects == 0

    (folder / "functions" / "f.sql").write_text(FUNCTION.format(2))
    found = await status(empty, folder=folder)
    await migrate(empty, folder=folder)

    assert (found.is_current, found.objects_are_current) == (False, False)
    assert (await status(empty, folder=folder)).is_current
    assert await rows(empty, readable) == [(2, True)]


async def test_rights_are_revoked_before_any_are_granted(
    empty: DatabaseSettings, folder: Path
) -> None:
    (folder / "functions" / "f.sql").write_text(FUNCTION.format(1))
    (folder / "views" / "v.sql").write_text(VIEW)
    (folder / "grants" / "dba.sql").write_text("GRANT SELECT ON mailqueue.v TO mailqueue_dba;")
    (folder / "grants" / "revoke.sql").write_text("REVOKE ALL ON mailqueue.v FROM mailqueue_dba;")

    await migrate(empty, folder=folder)

    readable = "SELECT has_table_privilege('mailqueue_dba', 'mailqueue.v', 'SELECT')"
    assert await rows(empty, readable) == [(True,)]


async def test_a_function_may_name_one_that_is_made_after_it(
    empty: DatabaseSettings, folder: Path
) -> None:
    early = FUNCTION.replace("mailqueue.f", "mailqueue.e").format("mailqueue.f()")
    (folder / "functions" / "e.sql").write_text(early)
    (folder / "functions" / "f.sql").write_text(FUNCTION.format(7))

    await migrate(empty, folder=folder)

    assert await rows(empty, "SELECT mailqueue.e()") == [(7,)]


async def test_everything_belongs_to_the_owner_role(empty: DatabaseSettings, folder: Path) -> None:
    await migrate(empty, folder=folder)

    owners = await rows(
        empty,
        "SELECT DISTINCT relowner::regrole::text FROM pg_class "
        "WHERE relnamespace = 'mailqueue'::regnamespace",
    )
    roles = await rows(empty, "SELECT rolname FROM pg_roles WHERE NOT rolcanlogin")
    assert owners == [("mailqueue_owner",)]
    assert {(role,) for role in ROLES} <= set(roles)


async def test_a_user_who_may_do_nothing_is_told_what_an_administrator_runs(
    empty_db: str, server: Server, folder: Path
) -> None:
    name = empty_db.rpartition("/")[2]
    async with connect(DatabaseSettings(Secret(server.superuser_url(name)))) as admin:
        await admin.execute("DROP ROLE IF EXISTS mailqueue_stranger")
        await admin.execute("CREATE ROLE mailqueue_stranger LOGIN PASSWORD 'x'")
    stranger = empty_db.replace("mailqueue_test:mailqueue_test", "mailqueue_stranger:x")

    with pytest.raises(Unavailable, match="an administrator must run, in database") as raised:
        await migrate(DatabaseSettings(Secret(stranger)), folder=folder)

    assert 'GRANT "mailqueue_owner" TO "mailqueue_stranger"' in str(raised.value)


async def test_a_locked_table_is_left_alone_for_a_while_and_tried_again(
    empty: DatabaseSettings, folder: Path
) -> None:
    """All later statements wait behind a waiting lock: the process gives up and retries."""
    await migrate(empty, folder=folder)
    (folder / "migrations" / "0002_second.sql").write_text(SECOND)
    async with connect(empty) as other:
        await other.execute("SET ROLE mailqueue_owner")
        await other.execute("BEGIN; LOCK TABLE mailqueue.a IN ACCESS SHARE MODE;")
        migrating = asyncio.create_task(migrate(empty, folder=folder))
        await until(empty, "SELECT WHERE EXISTS (SELECT FROM pg_locks WHERE NOT granted)")
        await until(empty, "SELECT WHERE NOT EXISTS (SELECT FROM pg_locks WHERE NOT granted)")
        await other.execute("COMMIT")

        assert (await asyncio.wait_for(migrating, 30)).migrations == ("0002_second.sql",)


async def test_a_transaction_pooler_is_no_way_to_change_the_schema(
    empty: DatabaseSettings, folder: Path
) -> None:
    """Role and lock belong to a session; the pooler would pass them to other clients."""
    pooled = replace(empty, pooler=Pooler.TRANSACTION)
    with pytest.raises(ConfigError, match="MAILQUEUE_POOLER=transaction"):
        await migrate(pooled, folder=folder)

    await migrate(empty, folder=folder)

    assert (await migrate(pooled, folder=folder)).migrations == ()


async def test_a_file_that_does_not_say_which_schema_is_refused(
    empty: DatabaseSettings, folder: Path
) -> None:
    (folder / "migrations" / "0002_bare.sql").write_text("CREATE TABLE bare ();")

    with pytest.raises(MigrationFailed, match="no schema has been selected to create in"):
        await migrate(empty, folder=folder)


async def until(settings: DatabaseSettings, query: str) -> None:
    """Poll until the query returns a row, for at most half a minute."""
    async with asyncio.timeout(30):
        while not await rows(settings, query):
            pass  # each look opens a connection: pause enough
