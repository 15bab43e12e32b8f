"""The views of blocked lanes and of throughput, for a DBA."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.mail.model import Ending, LogStatus
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.steps import claim, settle
from tests.operations.pausing import pause, set_aside

pytestmark = pytest.mark.anyio


async def blocked(conn: Conn) -> list[tuple[Any, ...]]:
    return await make.rows(
        conn,
        "SELECT project, priority, route, reason, until IS NULL, due, oldest_due_at IS NOT NULL"
        " FROM mailqueue.queue_blocked ORDER BY priority, route, reason",
    )


async def test_a_lane_that_moves_or_has_nothing_due_is_not_blocked(conn: Conn) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    await make.queued_emails(conn, 3)
    await claim(conn, worker, limit=1)
    await make.queued_email(conn, priority=1, run_at=datetime.now(UTC) + timedelta(hours=1))

    assert await blocked(conn) == []


@pytest.mark.parametrize(
    ("account", "reason", "is_open_ended"),
    [
        ({"daily_limit": 0}, "the daily limit is used up", False),
        ({"status": "paused", "status_reason": "moving"},
         "the project or its sender account is paused: moving", True),
        ({"status": "suspended", "status_reason": "535 no"},
         "the project or its sender account is suspended: 535 no", True),
        (None, "there is no sender account for it", True),
    ],
)  # fmt: skip
async def test_what_blocks_a_lane_is_said_in_words(
    conn: Conn, account: dict[str, Any] | None, reason: str, is_open_ended: bool
) -> None:
    if account is not None:
        await make.sender_account(conn, **account)
    await make.queued_emails(conn, 2, priority=1)
    await claim(conn, await make.worker(conn))

    assert await blocked(conn) == [("default", 1, "default", reason, is_open_ended, 2, True)]


async def test_a_paused_campaign_is_named_with_its_reason(conn: Conn) -> None:
    await make.sender_account(conn)
    await make.worker(conn)
    await make.queued_email(conn, campaign_id="spring")
    await set_aside(conn, await pause(conn, "campaign", "spring", reason="wrong price"))

    reason = "campaign spring is paused: wrong price"
    assert await blocked(conn) == [("default", 2, "default", reason, True, 1, True)]


async def test_without_workers_every_lane_with_due_mail_is_blocked(conn: Conn) -> None:
    await make.sender_account(conn)
    await make.queued_email(conn)
    silent = await make.worker(conn)
    await make.silent(conn, silent)

    assert [row[3] for row in await blocked(conn)] == ["no worker is running"]


async def throughput(conn: Conn) -> list[tuple[Any, ...]]:
    return await make.rows(
        conn,
        "SELECT project, sender, sent, deferred, bounced, failed, unknown, p50_ms, p95_ms"
        " FROM mailqueue.throughput ORDER BY minute, sender",
    )


async def attempt(conn: Conn, age: timedelta, status: str, ms: int, account: int) -> None:
    await conn.execute(
        "INSERT INTO mailqueue.send_logs (sent_at, email_id, project_id, sender_account_id,"
        " attempt, status, recipient_email, response_ms)"
        " SELECT clock_timestamp() - %s, %s, p.id, %s, 1, %s,"
        " 'ann@example.com', %s FROM mailqueue.projects AS p WHERE p.name = 'default'",
        (age, uuid4(), account, status, ms),
    )


async def test_throughput_counts_how_attempts_of_the_last_hour_ended(conn: Conn) -> None:
    relay = await make.sender_account(conn, name="relay")
    long_ago, lately = timedelta(minutes=62), timedelta(minutes=30)
    await attempt(conn, long_ago, "sent", 9999, relay)
    for status in ("sent", "deferred", "bounced", "failed", "rejected", "unknown"):
        await attempt(conn, lately, status, 100, relay)

    rows = await throughput(conn)

    totals = [sum(row[place] for row in rows) for place in range(2, 7)]
    assert totals == [1, 1, 1, 2, 1]
    assert {row[:2] for row in rows} == {("default", "relay")}


async def test_throughput_tells_slow_servers_by_the_minute(conn: Conn) -> None:
    slow = await make.sender_account(conn, name="slow")
    fast = await make.sender_account(conn, name="fast")
    await conn.execute(
        "INSERT INTO mailqueue.send_logs (sent_at, email_id, project_id, sender_account_id,"
        " attempt, status, recipient_email, response_ms)"
        " SELECT date_trunc('minute', now()) - interval '5 min', gen_random_uuid(), p.id, a.id, 1,"
        " 'sent', 'ann@example.com', n * CASE a.id WHEN %s THEN 10 ELSE 1 END"
        " FROM mailqueue.projects AS p, mailqueue.sender_accounts AS a,"
        " generate_series(1, 100) AS n WHERE p.name = 'default' AND a.id = ANY (%s)",
        (slow, [slow, fast]),
    )

    assert [row[1:3] + row[7:] for row in await throughput(conn)] == [
        ("fast", 100, 50, 95),
        ("slow", 100, 500, 950),
    ]


async def test_a_sent_mail_shows_in_throughput(conn: Conn) -> None:
    await make.sender_account(conn, name="relay")
    await make.queued_email(conn)
    taken = await claim(conn, await make.worker(conn))
    await settle(conn, taken, Ending.SENT, log=LogStatus.SENT, response_ms=12)

    assert await throughput(conn) == [("default", "relay", 1, 0, 0, 0, 0, 12, 12)]


async def test_the_last_hour_is_found_without_reading_the_month(database: DatabaseSettings) -> None:
    async with connect(database, application_name="test") as conn:
        project: UUID = await make.project_named(conn)
        await conn.execute(
            "INSERT INTO mailqueue.send_logs (sent_at, email_id, project_id, attempt, status,"
            " recipient_email) SELECT d.at, gen_random_uuid(), %s, 1, 'sent', 'ann@example.com'"
            " FROM (SELECT now() - interval '20 h' +"
            " n * interval '1 ms' AS at FROM generate_series(1, 60000) AS n) AS d",
            (project,),
        )
        await conn.execute("VACUUM ANALYZE mailqueue.send_logs")
        [(plan,)] = await make.rows(
            conn, "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM mailqueue.throughput"
        )
        pages = await make.scalar(
            conn,
            "SELECT sum(pg_relation_size(relid)) / 8192"
            " FROM pg_partition_tree('mailqueue.send_logs')",
        )

    read = plan[0]["Plan"]["Shared Hit Blocks"] + plan[0]["Plan"]["Shared Read Blocks"]
    assert read * 10 < pages, f"{read} blocks of {pages}"
