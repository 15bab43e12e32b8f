"""Test mail in the queue: it is routed to the trap, and its project's limits do not count it."""

from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from mailqueue.db.sql import sql_folder
from tests import make
from tests.mail.claim.steps import claim, due_now, lose, sent

pytestmark = pytest.mark.anyio

COUNTED = """
    SELECT c.sent, c.reserved FROM mailqueue.limits AS m
    CROSS JOIN LATERAL (SELECT * FROM mailqueue.limit_counters AS c
                         WHERE c.limit_id = m.id ORDER BY c.rev DESC LIMIT 1) AS c
    WHERE m.project_id = %s AND m.sender_account_id IS NOT DISTINCT FROM %s
"""
ROUTES = """
    SELECT l.route, q.is_test FROM mailqueue.email_queue AS q
    JOIN mailqueue.lanes AS l ON l.id = q.lane_id ORDER BY q.recipient_email
"""


async def tried(conn: Conn, project: str, to: str = "ann@example.com", **options: Any) -> Any:
    """Enqueue a test mail; return its id."""
    return await make.scalar(
        conn,
        "SELECT mailqueue.enqueue(%s, %s, 'Hello', NULL, 'Hello', %s::jsonb)",
        project,
        to,
        Jsonb({"is_test": True, **options}),
    )


async def test_test_mail_uses_up_nothing_of_its_project(conn: Conn) -> None:
    """Neither the daily limit nor a domain's rate: only the trap account counts it."""
    project = await make.project(conn, "shop", daily_limit=2)
    trap = await make.sender_account(conn, project_id=project, name="pit", provider="trap")
    await make.sender_account(conn, project_id=project, name="relay")
    await conn.execute(
        "INSERT INTO mailqueue.domain_rates (domain, rate_per_second, burst)"
        " VALUES ('example.com', 0.001, 1)"
    )
    for n in range(5):
        await tried(conn, "shop", f"p{n}@example.com")
    worker = await make.worker(conn)

    claims = await claim(conn, worker)
    reserved = await make.rows(conn, COUNTED, project, None)
    of_trap = await make.rows(conn, COUNTED, project, trap)
    wrong = await make.rows(conn, "SELECT * FROM mailqueue.wrong_reservations()")
    await sent(conn, claims[:3])
    await lose(conn, worker)
    after = await make.rows(conn, COUNTED, project, None)
    trap_after = await make.rows(conn, COUNTED, project, trap)

    assert (len(claims), {each.assigned_to for each in claims}) == (5, {trap})
    assert (reserved, of_trap, wrong) == ([(0, 0)], [(0, 5)], [])
    assert (after, trap_after) == ([(0, 0)], [(3, 0)])

    await make.queued_email(conn, project="shop", recipient_email="live@example.net")
    await due_now(conn)
    again = await claim(conn, await make.worker(conn))
    assert {each.recipient_email for each in again} >= {"live@example.net"}


async def test_its_route_is_the_trap_and_no_account_can_be_named(conn: Conn) -> None:
    project = await make.project(conn, "shop")
    await make.sender_account(conn, project_id=project, name="relay", priority=1)
    limits = (
        "SELECT DISTINCT account_limits FROM mailqueue.lanes"
        " WHERE route = '(test)' AND project_id = %s"
    )

    without = await make.scalar(conn, limits, project)
    trap = await make.sender_account(conn, project_id=project, name="pit", provider="trap")
    with_trap = await make.scalar(conn, limits, project)
    await tried(conn, "shop")
    for options in ({"sender": "relay"}, {"sender": "pit"}):
        with pytest.raises(psycopg.errors.InvalidParameterValue, match="test mail"):
            async with conn.transaction():
                await tried(conn, "shop", **options)
    for sender in ("(test)", "(test) 1"):
        with pytest.raises(psycopg.errors.InvalidParameterValue, match="no sender account"):
            async with conn.transaction():
                await make.scalar(
                    conn,
                    "SELECT mailqueue.enqueue('shop', 'a@example.com', 'x', NULL, 'x', %s::jsonb)",
                    Jsonb({"sender": sender}),
                )

    assert without == []
    assert with_trap == [
        await make.scalar(
            conn, "SELECT id FROM mailqueue.limits WHERE sender_account_id = %s", trap
        )
    ]
    assert await make.rows(conn, ROUTES) == [("(test)", True)]


async def test_keys_of_test_mail_are_not_those_of_live_mail(conn: Conn) -> None:
    await make.sender_account(conn, name="pit", provider="trap")
    live = await make.queued_email(conn, idempotency_key="k")

    first = await tried(conn, "default", "other@example.com", idempotency_key="k")
    again = await tried(conn, "default", "other@example.com", idempotency_key="k")
    twin = await make.queued_email(conn, idempotency_key="k")

    assert first == again != live
    assert twin is None


async def test_mail_of_before_has_the_mode_of_its_lane(conn: Conn) -> None:
    """Earlier, test mail named the trap: the migration makes that lane the one of test mail."""
    other = await make.project(conn, "other")
    for project in (await make.project_named(conn), other):
        await make.sender_account(conn, project_id=project, name="pit", provider="trap")
        await make.sender_account(conn, project_id=project, name="relay", priority=1)
    await conn.execute("DELETE FROM mailqueue.lanes WHERE route = '(test)'")
    old = [
        await make.queued_email(conn, sender="pit", recipient_email=f"{n}@a.example", **more)
        for n, more in enumerate(({"idempotency_key": "k"}, {}, {"project": "other"}))
    ]
    live = await make.queued_email(conn, recipient_email="z@a.example")
    [done] = [one for one in await claim(conn, await make.worker(conn)) if one.id == old[1]]
    await sent(conn, [done])
    await conn.execute(
        "INSERT INTO mailqueue.email_events (project_id, email_id, type)"
        " SELECT project_id, id, 'opened' FROM mailqueue.email_history"
    )

    folder = sql_folder() / "migrations"
    [lanes] = folder.glob("*_modes.sql")
    [filled] = folder.glob("*_modes_filled.sql")
    begins = "-- Test mail named the trap until now."
    await conn.execute((begins + lanes.read_text().partition(begins)[2]).encode())
    await conn.execute(filled.read_bytes())

    marked = """
        SELECT id FROM mailqueue.email_queue WHERE is_test
        UNION ALL SELECT id FROM mailqueue.email_history WHERE is_test
        UNION ALL SELECT email_id FROM mailqueue.email_events WHERE is_test AND type = 'opened'
    """
    assert sorted(row[0] for row in await make.rows(conn, marked)) == sorted([*old, old[1]])
    assert await make.scalar(
        conn, "SELECT NOT is_test FROM mailqueue.email_queue WHERE id = %s", live
    )
    assert await make.queued_email(conn, sender="pit", idempotency_key="k") is not None
    routes = (
        "SELECT route, count(*) FROM mailqueue.lanes WHERE route IN ('pit', '(test)') GROUP BY 1"
    )
    assert dict(await make.rows(conn, routes)) == {"pit": 8, "(test)": 8}


async def test_a_page_of_test_mail_reads_no_more_for_all_the_live_mail_around_it(
    conn: Conn,
) -> None:
    await make.sender_account(conn, name="pit", provider="trap")
    project = await make.project_named(conn)
    first = await tried(conn, "default")
    await sent(conn, await claim(conn, await make.worker(conn)))
    columns = "project_id, lane_id, status, priority, attempts, max_attempts, created_at,"
    columns += " recipients, unknowns, delivery, category, expires_at, recipient_email,"
    columns += " content_id, content_on"
    await conn.execute(
        f"INSERT INTO mailqueue.email_history (id, finished_at, is_test, {columns})"
        f" SELECT mailqueue.uuidv7(), finished_at, false, {columns}"
        " FROM mailqueue.email_history, generate_series(1, 20000)".encode()
    )
    await conn.execute("ANALYZE mailqueue.email_history")
    await make.scalar(conn, "SELECT set_config('mailqueue.mode', 'test', true)")
    read = """
        SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::integer
        FROM pg_stat_xact_user_tables WHERE relname LIKE 'email_history%%'
    """
    query = "SELECT id FROM mailqueue.list_emails(%s" + ", NULL" * 10 + ", 50)"

    before = await make.scalar(conn, read)
    found = [await make.rows(conn, query, project) for _ in range(7)]

    assert found == [[(first,)]] * 7
    assert await make.scalar(conn, read) - before < 100
