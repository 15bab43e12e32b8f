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
