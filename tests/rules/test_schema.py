"""The schema for a DBA: comments everywhere, and functions with a fixed search path."""

import re

import pytest
from psycopg import errors

from mailqueue.db.fetch import Conn
from tests import make

pytestmark = pytest.mark.anyio

UNCOMMENTED = """
    SELECT c.relname::text
    FROM pg_catalog.pg_class AS c
    WHERE c.relnamespace = 'mailqueue'::regnamespace
      AND c.relkind IN ('r', 'p', 'v', 'm')
      AND NOT c.relispartition
      AND obj_description(c.oid, 'pg_class') IS NULL
    ORDER BY 1
"""
# SECURITY DEFINER runs with the owner's rights: the caller must not choose what names mean.
_COLUMNS = """
    FROM pg_class AS c
    JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.relnamespace = 'mailqueue'::regnamespace
      AND c.relkind IN ('r', 'p', 'v', 'm') AND NOT c.relispartition
      AND c.relname !~ '_[0-9]{4}_[0-9]{2}$'
"""
UNDESCRIBED = f"""
    SELECT c.relname || '.' || a.attname {_COLUMNS}
      AND coalesce(col_description(c.oid, a.attnum), '') = ''
    ORDER BY 1
"""
DESCRIBED = f"""
    SELECT c.relname || '.' || a.attname || ': ' || col_description(c.oid, a.attnum) {_COLUMNS}
      AND col_description(c.oid, a.attnum) IS NOT NULL
    ORDER BY 1
"""
UNITS = {
    r"_ms$": "millisecond",
    r"bytes$": "bytes",
    r"_days$": "[Dd]ays",
    r"_hours(_|$)": "[Hh]ours",
    r"seconds$": "seconds",
    r"per_second$": "per second|a second",
    r"^(daily|hourly|minute)_(limit|sent|headroom)$": "[Rr]ecipients",
    r"_(rate|warn|pause)$": "percent",
    r"^(rate|burst)$": "[Rr]ecipients",
}
"""Words of which a column's comment has one, by a pattern of its name."""
MISLED = """
    SELECT p.oid::regprocedure::text
    FROM pg_catalog.pg_proc AS p
    WHERE p.pronamespace = 'mailqueue'::regnamespace
      AND p.prosecdef
      AND NOT EXISTS (
          SELECT FROM unnest(p.proconfig) AS s (setting)
          WHERE s.setting LIKE 'search_path=%' AND s.setting ~ '(=|, ?)pg_temp$'
      )
    ORDER BY 1
"""
# A plan that may not scan costs 1e10 where it has to: PostgreSQL compiles it at each call.
COMPILED = """
    SELECT p.oid::regprocedure::text
    FROM pg_catalog.pg_proc AS p
    WHERE p.pronamespace = 'mailqueue'::regnamespace
      AND EXISTS (SELECT FROM unnest(p.proconfig) AS s (setting)
                  WHERE s.setting ~ '^(enable_|plan_cache_mode=)')
      AND NOT 'jit=off' = ANY (p.proconfig)
    ORDER BY 1
"""
NOT_THE_OWNERS = """
    SELECT c.relname::text
    FROM pg_catalog.pg_class AS c
    WHERE c.relnamespace = 'mailqueue'::regnamespace
      AND c.relowner <> 'mailqueue_owner'::regrole
"""
FUNCTIONS = """
    SELECT p.oid, p.oid::regprocedure::text, l.lanname::text, p.proconfig
    FROM pg_catalog.pg_proc AS p
    JOIN pg_catalog.pg_language AS l ON l.oid = p.prolang
    WHERE p.pronamespace = 'mailqueue'::regnamespace AND l.lanname IN ('sql', 'plpgsql')
    ORDER BY 2
"""
OUTSIDE = """
    SELECT c.relname::text
    FROM pg_catalog.pg_class AS c
    JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname NOT IN ('mailqueue', 'pg_catalog', 'information_schema', 'pg_toast')
      AND n.nspname !~ '^pg_(temp|toast_temp)'
"""
_VALIDATORS = {
    "sql": b"SELECT fmgr_sql_validator(%s)",
    "plpgsql": b"SELECT plpgsql_validator(%s)",
}


def without_unit(described: object) -> bool:
    """Return whether a column's name calls for a unit that its comment lacks."""
    column, _, comment = str(described).partition(": ")
    name = column.partition(".")[2]
    wanted = [unit for pattern, unit in UNITS.items() if re.search(pattern, name)]
    return not all(re.search(unit, comment) for unit in wanted)


async def names(conn: Conn, query: str) -> list[object]:
    found = await conn.execute(query.encode())
    return [row[0] for row in await found.fetchall()]


async def validate_functions(conn: Conn) -> list[str]:
    """Parse every function body under its own search path; return the errors."""
    wrong = []
    for oid, signature, language, settings in await (
        await conn.execute(FUNCTIONS.encode())
    ).fetchall():
        pinned = [s for s in settings or () if s.startswith("search_path=")]
        path = pinned[0].partition("=")[2] if pinned else ""
        try:
            async with conn.transaction():
                await conn.execute("SELECT set_config('search_path', %s, true)", (path,))
                await conn.execute(_VALIDATORS[language], (oid,))
        except errors.Error as exc:
            wrong.append(f"{signature}: {exc.diag.message_primary}")
    return wrong


async def test_every_table_and_view_has_a_comment(conn: Conn) -> None:
    assert await names(conn, UNCOMMENTED) == []


async def test_every_column_has_a_comment_with_its_unit(conn: Conn) -> None:
    assert await names(conn, UNDESCRIBED) == []
    assert [name for name in await names(conn, DESCRIBED) if without_unit(name)] == []


async def test_every_function_with_the_owners_rights_pins_its_search_path(conn: Conn) -> None:
    assert await names(conn, MISLED) == []


async def test_no_pinned_plan_is_compiled(conn: Conn) -> None:
    assert await names(conn, COMPILED) == []


async def test_every_function_body_is_valid(conn: Conn) -> None:
    """Files are applied unchecked, so that functions may name each other in any order."""
    await conn.execute("SET LOCAL ROLE mailqueue_owner")

    assert await validate_functions(conn) == []


async def test_everything_is_the_owners_and_in_one_schema(conn: Conn) -> None:
    assert await names(conn, NOT_THE_OWNERS) == []
    assert await names(conn, OUTSIDE) == []


async def test_a_column_without_a_comment_or_its_unit_is_found(conn: Conn) -> None:
    await conn.execute("SET LOCAL ROLE mailqueue_owner")
    await conn.execute("CREATE TABLE mailqueue.silent (id integer, took_ms integer)")
    await conn.execute("COMMENT ON COLUMN mailqueue.silent.took_ms IS 'Duration.'")

    assert await names(conn, UNDESCRIBED) == ["silent.id"]
    assert [name for name in await names(conn, DESCRIBED) if without_unit(name)] == [
        "silent.took_ms: Duration."
    ]


async def test_comments_follow_the_files_and_name_columns_there_are(conn: Conn) -> None:
    await conn.execute("SET LOCAL ROLE mailqueue_owner")
    shown = "SELECT col_description('mailqueue.waiters'::regclass, 2)"
    describe = "SELECT mailqueue.describe_columns('waiters', ARRAY[['queue', %s]])"
    await conn.execute(describe, ["It''s the queue."])
    assert await make.scalar(conn, shown) == "It''s the queue."

    with pytest.raises(errors.UndefinedColumn, match="waiters has no column gone"):
        await conn.execute("SELECT mailqueue.describe_columns('waiters', ARRAY[['gone', 'x']])")


async def test_a_comment_that_is_as_it_should_be_is_not_set_again(conn: Conn) -> None:
    """COMMENT waits for a VACUUM of the table, which an upgrade should not."""
    await conn.execute("SET LOCAL ROLE mailqueue_owner")
    same = (
        "SELECT mailqueue.describe_columns('waiters', ARRAY[['queue',"
        " col_description('mailqueue.waiters'::regclass, 2)]])"
    )
    locks = (
        "SELECT count(*) FROM pg_locks WHERE relation = 'mailqueue.waiters'::regclass"
        " AND mode = 'ShareUpdateExclusiveLock' AND pid = pg_backend_pid()"
    )
    await conn.execute(same)
    assert await make.scalar(conn, locks) == 0
    await conn.execute("SELECT mailqueue.describe_columns('waiters', ARRAY[['queue', 'x']])")
    assert await make.scalar(conn, locks) == 1


async def test_a_table_without_a_comment_is_found(conn: Conn) -> None:
    await conn.execute("SET LOCAL ROLE mailqueue_owner")
    await conn.execute("CREATE TABLE mailqueue.silent ()")

    assert "silent" in await names(conn, UNCOMMENTED)


@pytest.mark.parametrize("setting", ["", "SET search_path = pg_temp, mailqueue"])
async def test_a_function_that_can_be_misled_is_found(conn: Conn, setting: str) -> None:
    await conn.execute("SET LOCAL ROLE mailqueue_owner")
    made = f"CREATE FUNCTION mailqueue.misled() RETURNS integer SECURITY DEFINER {setting} "
    await conn.execute((made + "LANGUAGE sql AS 'SELECT 1'").encode())

    assert "mailqueue.misled()" in await names(conn, MISLED)


@pytest.mark.parametrize("setting", ["enable_seqscan = off", "plan_cache_mode = force_custom_plan"])
async def test_a_pinned_plan_that_may_be_compiled_is_found(conn: Conn, setting: str) -> None:
    await conn.execute("SET LOCAL ROLE mailqueue_owner")
    made = f"CREATE FUNCTION mailqueue.pinned() RETURNS integer LANGUAGE sql SET {setting}"
    await conn.execute(f"{made} AS 'SELECT 1'".encode())

    assert await names(conn, COMPILED) == ["mailqueue.pinned()"]


async def test_a_function_that_names_a_missing_table_is_found(conn: Conn) -> None:
    await conn.execute("SET LOCAL ROLE mailqueue_owner")
    await conn.execute("SET LOCAL check_function_bodies = off")
    await conn.execute(
        "CREATE FUNCTION mailqueue.broken() RETURNS integer LANGUAGE sql "
        "AS 'SELECT n FROM mailqueue.nowhere'"
    )
    await conn.execute("SET LOCAL check_function_bodies = on")

    assert any("mailqueue.broken()" in found for found in await validate_functions(conn))
