"""What monitoring reads of keys, domains and archiving before something ends."""

import pytest

from mailqueue.core.queues.registry import QUEUES
from mailqueue.db.fetch import Conn
from tests import make

pytestmark = pytest.mark.anyio


async def gauge(conn: Conn, name: str, *labels: str) -> float | None:
    """Return a figure; None where there is none."""
    cursor = await conn.execute(
        "SELECT value FROM mailqueue.gauges() WHERE name = %s AND labels = %s", (name, list(labels))
    )
    row = await cursor.fetchone()
    return None if row is None else row[0]


async def test_keys_that_end_soon_are_counted_unless_they_were_replaced(conn: Conn) -> None:
    project = await make.project(conn, "shop")
    await conn.execute(
        "INSERT INTO mailqueue.api_keys"
        " (project_id, name, key_hash, hint, is_test, expires_at, revoked_at, rotated_at)"
        " SELECT %s, n, sha256(n::bytea), n, false, now() + days * interval '1 day',"
        "        CASE n WHEN 'revoked' THEN now() END, CASE n WHEN 'rotated' THEN now() END"
        "   FROM (VALUES ('soon', 13), ('later', 15), ('over', -1), ('revoked', 3), ('rotated', 3))"
        "     AS k (n, days)",
        (project,),
    )
    await conn.execute(
        "INSERT INTO mailqueue.administrators (name, token_hash, hint, created_by, expires_at)"
        " VALUES ('ann', '\\x01', 'a', 'ben', now() + interval '1 day')"
    )

    assert await gauge(conn, "mailqueue_expiring_keys", "api") == 1
    assert await gauge(conn, "mailqueue_expiring_keys", "administrator") == 1


async def test_the_last_check_of_each_domain_counts(conn: Conn) -> None:
    project = await make.project(conn, "shop")
    await conn.execute(
        "INSERT INTO mailqueue.domain_checks (project_id, domain, is_good, findings, checked_at)"
        " SELECT %s, domain, is_good, '[]', now() - days * interval '1 day'"
        "   FROM (VALUES ('mended.example', false, 2), ('mended.example', true, 1),"
        "                ('broken.example', true, 2), ('broken.example', false, 1),"
        "                ('old.example', false, 40)) AS c (domain, is_good, days)",
        (project,),
    )

    assert await gauge(conn, "mailqueue_failing_domains") == 1


async def test_the_age_of_the_archive_is_shown_where_there_is_one(conn: Conn) -> None:
    mode: str = await make.scalar(conn, "SELECT current_setting('archive_mode')")
    found = await gauge(conn, "mailqueue_wal_archive_age_seconds")

    assert (found is None) == (mode == "off")


ACCOUNTS = """
    INSERT INTO mailqueue.sender_accounts (project_id, name, email, smtp_host, smtp_port, smtp_tls,
        daily_limit)
    SELECT %s, 'account' || n, n || '@example.com', 'relay.example.com', 25, 'none', 100
      FROM generate_series(%s::integer, %s::integer) AS n
"""
STATES = (
    "UPDATE mailqueue.sender_accounts SET status = 'suspended' WHERE name = 'account1'",
    "UPDATE mailqueue.sender_accounts SET warm_up = '{10,20}' WHERE name = 'account2'",
    "UPDATE mailqueue.limit_counters AS c SET sent = 100, day = (now() AT TIME ZONE 'UTC')::date"
    "  FROM mailqueue.limits AS m JOIN mailqueue.sender_accounts AS a ON a.id = m.sender_account_id"
    " WHERE c.limit_id = m.id AND a.name = 'account3'",
    "UPDATE mailqueue.limits AS m SET circuit_opened_at = now(), blocked_reason = 'unreachable',"
    "       blocked_until = now() + CASE a.name WHEN 'account4' THEN interval '1 h' ELSE '-1 h' END"
    "  FROM mailqueue.sender_accounts AS a"
    " WHERE a.id = m.sender_account_id AND a.name IN ('account4', 'account5')",
    "UPDATE mailqueue.sender_accounts SET daily_limit = NULL WHERE name = 'account6'",
)
STATES_OF = "SELECT provider, status, circuit, headroom FROM mailqueue.{}() ORDER BY 1, 2, 3, 4"


async def test_accounts_have_the_states_that_their_board_shows(conn: Conn) -> None:
    project = await make.project(conn, "shop")
    await conn.execute(ACCOUNTS, (project, 1, 7))
    for statement in STATES:
        await conn.execute(statement)

    told = await (await conn.execute(STATES_OF.format("account_states"))).fetchall()
    shown = await (await conn.execute(STATES_OF.format("provider_board"))).fetchall()

    assert told == shown
    assert {row[1] for row in told} == {"active", "suspended", "warming_up", "paused_limit_reached"}
    assert {row[2] for row in told} == {"closed", "open", "half_open"}


async def pages_of(conn: Conn, function: str) -> int:
    """Return the pages that a call reads in a session that has called it before."""
    pages = []
    for _ in range(3):
        cursor = await conn.execute(
            "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON)"
            f" SELECT * FROM mailqueue.{function}()"
        )
        plan: list[dict[str, dict[str, int]]] = (await cursor.fetchone() or ([],))[0]
        pages.append(plan[0]["Plan"]["Shared Hit Blocks"])
    return min(pages)


async def test_more_accounts_cost_a_scrape_a_few_pages_each(conn: Conn) -> None:
    project = await make.project(conn, "shop")

    async def pages_with(first: int, last: int) -> int:
        await conn.execute(ACCOUNTS, (project, first, last))
        return await pages_of(conn, "gauges")

    few = await pages_with(1, 10)
    many = await pages_with(11, 60)

    assert (many - few) / 50 < 20


async def test_a_session_plans_the_checks_of_all_queues_once(conn: Conn) -> None:
    assert await pages_of(conn, "health_of_queues") < 12 * len(QUEUES)
