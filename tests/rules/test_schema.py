"""The schema for a DBA: comments everywhere, and functions with a fixed search path."""

import pytest
from psycopg import errors

from mailqueue.db.fetch import Conn

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
