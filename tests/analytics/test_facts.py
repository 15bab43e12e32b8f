"""Emails become facts; those that are counted alike are one, whatever their times."""

import pytest

from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.analytics import folding
from tests.events.sent_mail import left

pytestmark = pytest.mark.anyio

IN_ONE_MINUTE = """
UPDATE mailqueue.email_history AS h
   SET created_at = date_trunc('minute', now() - interval '1 min'),
       finished_at = date_trunc('minute', now() - interval '1 min') + o.n * interval '10 s'
  FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM mailqueue.email_history) AS o
 WHERE o.id = h.id
"""
IN_TWO_MINUTES = """
UPDATE mailqueue.email_history AS h
   SET created_at = o.at, finished_at = o.at
  FROM (SELECT id, date_trunc('minute', now() - interval '1 min')
               - CASE row_number() OVER (ORDER BY id) WHEN 1 THEN interval '1 ms' ELSE '0' END AS at
          FROM mailqueue.email_history) AS o
 WHERE o.id = h.id
"""
FACTS = """
SELECT f.metric, f.n FROM mailqueue.stats_state AS s
 CROSS JOIN mailqueue.stats_written(now() - interval '1 h', now() + interval '1 h') AS x
 CROSS JOIN unnest(mailqueue.facts_by_minute(
            s, x.ids, x.times, x.known, x.events, x.event_times)) AS f
 ORDER BY f.metric, f.n
"""


async def test_emails_of_a_minute_that_are_counted_alike_are_one_fact(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        for _ in range(3):
            await left(conn)
        await left(conn, campaign_id="spring")
        await conn.execute(IN_ONE_MINUTE)

        assert await make.rows(conn, FACTS) == [
            ("accepted", 1), ("accepted", 3), ("sent", 1), ("sent", 3)
        ]  # fmt: skip
        await folding.caught_up(conn)
        assert await folding.total(conn, "sent") == 4
        assert await folding.differences(conn) == []


async def test_emails_at_both_sides_of_a_minute_are_counted_in_their_own(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        for _ in range(3):
            await left(conn)
        await conn.execute(IN_TWO_MINUTES)

        assert await make.rows(conn, FACTS) == [
            ("accepted", 1), ("accepted", 2), ("sent", 1), ("sent", 2)
        ]  # fmt: skip
        await folding.caught_up(conn)
        query = """
            SELECT sent FROM mailqueue.stats_minutes
             WHERE dimension = 'total' AND project_id <> '00000000-0000-0000-0000-000000000000'
             ORDER BY started_at
        """
        assert [row[0] for row in await make.rows(conn, query)] == [1, 2]
        assert await folding.differences(conn) == []


async def test_the_content_of_an_email_is_looked_up_once_for_both_of_its_facts(
    database: DatabaseSettings,
) -> None:
    looked_up = """
        SELECT coalesce(sum(t.seq_scan + coalesce(t.idx_scan, 0)), 0)::integer
          FROM pg_stat_xact_user_tables AS t JOIN pg_inherits AS i ON i.inhrelid = t.relid
         WHERE i.inhparent = 'mailqueue.email_contents'::regclass
    """
    of_all = """
        SELECT count(*)
          FROM mailqueue.stats_written(now() - interval '1 h', now() + interval '1 h') AS x
         CROSS JOIN mailqueue.stats_facts(x.ids, x.times, x.known, x.events, x.event_times)
    """
    async with connect(database) as conn:
        for _ in range(3):
            await left(conn)
        async with conn.transaction():
            before = await make.scalar(conn, looked_up)
            assert await make.scalar(conn, of_all) == 6
            assert await make.scalar(conn, looked_up) - before == 3
