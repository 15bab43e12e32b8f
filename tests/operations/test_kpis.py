"""Views of key figures, against a small set of mail whose figures were computed by hand."""

from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.operations.test_view_plans import much_mail, pages_read

pytestmark = pytest.mark.anyio

_FINISHED = """
INSERT INTO mailqueue.email_history (id, finished_at, project_id, lane_id, status, priority,
    attempts, max_attempts, created_at, recipients, unknowns, delivery, category, expires_at,
    recipient_email, content_id, content_on)
SELECT gen_random_uuid(), d.at, %(project)s, l.id, %(status)s, 2, %(attempts)s, 5,
       d.at - make_interval(secs => %(took)s), 1, 0, 'resend', 'x', d.at, 'ann@example.com', 1,
       current_date
  FROM mailqueue.lanes AS l, (SELECT ((now() AT TIME ZONE 'UTC')::date - %(ago)s)::timestamp
       AT TIME ZONE 'UTC' AS at) AS d
 WHERE l.project_id = %(project)s ORDER BY l.id LIMIT 1
"""
_LOG = """
INSERT INTO mailqueue.send_logs (sent_at, email_id, project_id, attempt, status, recipient_email,
    response_ms)
SELECT ((now() AT TIME ZONE 'UTC')::date - %s)::timestamp AT TIME ZONE 'UTC', gen_random_uuid(),
       %s, 1, %s, 'ann@example.com', %s
"""
_DAY = """
SELECT project, accepted, sent, failed, success_rate, failure_rate, avg_send_seconds, retried_0,
       retried_1, retried_2, retried_3_or_more, attempts, bounces, bounce_rate, avg_response_ms,
       p95_response_ms
  FROM mailqueue.daily_kpis WHERE day = (now() AT TIME ZONE 'UTC')::date - %s ORDER BY project
"""


async def finished(conn: Conn, project: UUID, status: str, **values: int) -> None:
    given: dict[str, Any] = {"ago": 0, "attempts": 1, "took": 0} | values
    await conn.execute(_FINISHED.encode(), {"project": project, "status": status, **given})


async def test_figures_of_a_day_are_those_computed_by_hand(conn: Conn) -> None:
    shop, news = await make.project(conn, "shop"), await make.project(conn, "news")
    for project in (shop, news):
        await make.sender_account(conn, project_id=project)
        await make.scalar(
            conn,
            "SELECT mailqueue.enqueue(%s, 'bob@example.com', 's', 'b')::text",
            "shop" if project == shop else "news",
        )
    for attempts, took in ((1, 1), (1, 2), (1, 3), (2, 300), (3, 900), (5, 3600)):
        await finished(conn, shop, "sent", attempts=attempts, took=took)
    await finished(conn, shop, "failed", attempts=5)
    await finished(conn, shop, "expired", attempts=0)
    await finished(conn, shop, "cancelled")
    await finished(conn, shop, "suppressed")
    await finished(conn, shop, "sent", ago=1, took=8)  # another day
    for status, took_ms in (("sent", 10), ("sent", 20), ("deferred", 30), ("bounced", 100)):
        await conn.execute(_LOG.encode(), (0, shop, status, took_ms))

    today = await make.rows(conn, _DAY, 0)
    yesterday = await make.rows(conn, _DAY, 1)

    # 6 of 8 sent; 2 failed and 3 of the sent were retried; (1 + 2 + 3 + 300 + 900 + 3600) / 6 s
    mine = ("shop", 1, 6, 2, Decimal("75.00"), Decimal("62.50"), Decimal("801.000"), 4, 1, 1, 2)
    assert today == [
        ("news", 1, 0, 0, *[None] * 3, *[0] * 6, *[None] * 3),
        (*mine, 4, 1, Decimal("25.00"), Decimal("40.0"), 100),
    ]
    before = ("shop", 0, 1, 0, Decimal("100.00"), Decimal("0.00"), Decimal("8.000"), 1, 0, 0, 0)
    assert yesterday == [(*before, 0, 0, *[None] * 3)]


async def test_figures_end_after_30_days(conn: Conn) -> None:
    project = await make.project_named(conn)
    await make.sender_account(conn, project_id=project)
    await make.queued_email(conn)
    await finished(conn, project, "sent")

    days = "SELECT count(*) FROM mailqueue.daily_kpis WHERE day <= current_date - 31"
    assert await make.scalar(conn, days) == 0
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.daily_kpis") == 1


async def test_figures_of_the_queue_are_those_of_its_mail(conn: Conn) -> None:
    await make.project(conn, "empty")
    await make.sender_account(conn)
    now = await make.scalar(conn, "SELECT now()")
    mails = await make.queued_emails(conn, 3)
    await make.queued_email(conn, run_at=now + timedelta(days=1))
    held = await make.queued_email(conn, run_at=now - timedelta(hours=3))
    await conn.execute(b"UPDATE mailqueue.email_queue SET status = 'held' WHERE id = %s", [held])
    await conn.execute(
        b"UPDATE mailqueue.email_queue SET run_at = now() - interval '2 hours' WHERE id = %s",
        [mails[1]],
    )

    found = await make.rows(
        conn,
        "SELECT project, unfinished, due, held, oldest_due_at, oldest_wait > interval '119 min'"
        " FROM mailqueue.queue_kpis ORDER BY project",
    )

    assert found == [
        ("default", 5, 3, 1, now - timedelta(hours=2), True),
        ("empty", 0, 0, 0, None, None),
    ]


async def test_a_project_sees_its_own_figures(conn: Conn) -> None:
    shop = await make.project(conn, "shop")
    await make.project(conn, "news")
    for name in ("shop", "news"):
        await make.scalar(
            conn, "SELECT mailqueue.enqueue(%s, 'bob@example.com', 's', 'b')::text", name
        )
    await conn.execute(b"SELECT set_config('mailqueue.project', %s, true)", [str(shop)])

    for view in ("daily_kpis", "queue_kpis"):
        found = await make.rows(conn, f"SELECT project FROM mailqueue.{view}")
        assert found == [("shop",)], view


async def test_figures_of_a_day_are_found_without_reading_all_mail(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        await much_mail(conn)
        project = await make.project_named(conn)
        await conn.execute(
            b"INSERT INTO mailqueue.send_logs (sent_at, email_id, project_id, attempt, status,"
            b" recipient_email) SELECT now(), gen_random_uuid(), %s, 1, 'sent', 'ann@example.com'"
            b" FROM generate_series(1, 20000)",
            [project],
        )
        await conn.execute(b"VACUUM ANALYZE mailqueue.send_logs")
        pages = await make.scalar(
            conn,
            "SELECT sum(pg_relation_size(c.oid)) / 8192 FROM pg_class AS c"
            " WHERE c.relnamespace = 'mailqueue'::regnamespace AND c.relkind = 'r'"
            " AND c.relname ~ '^(email_history|send_logs)'",
        )
        long_ago = (
            "SELECT * FROM mailqueue.daily_kpis WHERE day = (now() AT TIME ZONE 'UTC')::date - 20"
        )
        await make.rows(conn, long_ago)  # catalogues are read once
        read = await pages_read(conn, long_ago)
        await conn.execute(b"UPDATE mailqueue.email_queue SET run_at = now() + interval '1 day'")
        await conn.execute(b"VACUUM ANALYZE mailqueue.email_queue")
        queue = await make.scalar(
            conn, "SELECT pg_relation_size('mailqueue.email_queue'::regclass) / 8192"
        )
        now = await pages_read(conn, "SELECT * FROM mailqueue.queue_kpis")

    assert read * 2 < pages, f"{read} pages of {pages}"
    assert now * 3 < queue, f"{now} pages of {queue}"


async def test_sizes_of_tables_include_their_partitions(conn: Conn) -> None:
    tables = await make.rows(
        conn,
        "SELECT table_name, table_bytes + index_bytes = total_bytes"
        " FROM mailqueue.table_sizes ORDER BY 1",
    )
    wanted = await make.rows(
        conn,
        "SELECT relname::text, true FROM pg_class WHERE relkind IN ('r', 'p')"
        " AND relnamespace = 'mailqueue'::regnamespace AND NOT relispartition ORDER BY 1",
    )
    assert tables == wanted
    parts = (
        "SELECT sum(pg_total_relation_size(relid))::bigint"
        " FROM pg_partition_tree('mailqueue.send_logs') WHERE isleaf"
    )
    total = "SELECT total_bytes FROM mailqueue.table_sizes WHERE table_name = 'send_logs'"
    assert await make.scalar(conn, total) == await make.scalar(conn, parts)
