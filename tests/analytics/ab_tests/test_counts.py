"""Counts of A/B tests: each email under the variant that it was sent with, the rest too."""

from datetime import UTC, datetime, timedelta

import pytest

from mailqueue.analytics import series
from mailqueue.analytics.model import StatsScope, TimeSpan
from mailqueue.contract.analytics import Bucket, Dimension
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.analytics import folding, recount
from tests.analytics.ab_tests import steps

pytestmark = pytest.mark.anyio

SAME = ({"name": "A", "share": 50}, {"name": "B", "share": 50})
"""Two variants that differ in nothing."""


async def test_emails_count_under_their_variant_also_where_the_variants_are_equal(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        await make.queued_email(conn)
        test = await steps.created(conn, variants=list(SAME), sample_percent=60)
        rows = await steps.sent_to(conn, test.id, 100)
        first, second = steps.of_variant(rows, "A"), steps.of_variant(rows, "B")
        await steps.finished(conn, [*first, *second])
        await steps.happened(conn, second)
        await folding.caught_up(conn)
        of = [f"{test.id}/{name}" for name in "AB"]
        sample = [
            await folding.total(conn, "sent", dimension="variant", value=value) for value in of
        ]
        opens = [
            await folding.total(conn, "unique_opens", dimension="variant", value=value)
            for value in of
        ]
        await steps.time_over(conn, test.id)
        for _ in range(len(rows)):
            if not await steps.worked(database):
                break
        rest = await make.rows(
            conn,
            "SELECT email_id FROM mailqueue.ab_test_recipients WHERE NOT is_sample"
            " AND ab_test_id = %s",
            test.id,
        )
        await steps.finished(conn, [row[0] for row in rest])
        await folding.caught_up(conn)
        sent = [await folding.total(conn, "sent", dimension="variant", value=value) for value in of]
        counted, expected = await recount.stored(conn, "stats_minutes"), await recount.recount(conn)

    assert sample == [len(first), len(second)]
    assert opens == [0, len(second)]
    assert len(rest) == 100 - sum(sample) > 0
    assert sent == [len(first), len(second) + len(rest)], "the rest get the winner"
    assert recount.differences(counted, expected) == []


async def test_a_variant_is_called_by_the_names_of_test_and_variant(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        test = await steps.created(conn)
        rows = await steps.sent_to(conn, test.id, 20)
        await steps.finished(conn, [one.id for one in rows])
        await folding.caught_up(conn)
        project = await make.project_named(conn)
        now = datetime.now(UTC)
        found = await series.timeseries(
            conn,
            StatsScope(project, is_test=False),
            TimeSpan(now - timedelta(hours=1), now + timedelta(minutes=1), "UTC"),
            metric="sent",
            bucket=Bucket.HOUR,
            group_by=Dimension.VARIANT,
        )

    assert {one.name: one.total for one in found.series} == {
        "Spring: A": len(steps.of_variant(rows, "A")),
        "Spring: B": len(steps.of_variant(rows, "B")),
    }
