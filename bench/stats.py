"""Measures how long answers about counts take, over 90 days of synthetic counts.

What history holds does not matter to them: they read counts alone. One statement makes the counts
that 90 days of mail in every quarter of an hour leave, of one project and of all together.
"""

import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from pathlib import Path
from statistics import median

import click
import uvloop

from bench.report import Report
from bench.server import own_server
from mailqueue.analytics import overview, series, spans
from mailqueue.analytics.model import StatsScope, TimeSpan
from mailqueue.contract.analytics import Bucket, Dimension
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect

DAYS = 90
_COUNTS = """
INSERT INTO mailqueue.stats_quarters (project_id, is_test, dimension, value, value2, started_at,
    accepted, sent, delivered, opens, unique_opens, clicks, unique_clicks)
SELECT p.id, false, d.dimension, d.value, '',
       mailqueue.stats_quarter(now()) - n * interval '15 min',
       100, 100, 98, 50, 40, 10, 8
  FROM (SELECT id FROM mailqueue.projects
        UNION ALL SELECT '00000000-0000-0000-0000-000000000000') AS p,
       generate_series(1, %s * 96) AS n,
       (SELECT 'total' AS dimension, '' AS value
        UNION ALL SELECT 'campaign', 'c' || i FROM generate_series(1, 20) AS i
        UNION ALL SELECT 'account', i::text FROM generate_series(1, 5) AS i
        UNION ALL SELECT 'domain', 'd' || i FROM generate_series(1, 10) AS i) AS d
"""
_ACCOUNTS = """
INSERT INTO mailqueue.stats_accounts (sender_account_id, project_id, name, provider, tells_since)
SELECT i, p.id, 'a' || i, 'ses', CASE WHEN i > %s THEN now() END
  FROM mailqueue.projects AS p, generate_series(1, 5) AS i
"""


def answers(conn: Conn, scope: StatsScope) -> Mapping[str, Callable[[], Awaitable[object]]]:
    """Return what is asked, by name."""

    async def of_time() -> object:
        span = await spans.asked(conn, None, None, "Europe/Rome", project_id=scope.project_id)
        return await overview.overview(conn, scope, _long(span))

    def over_time(
        bucket: Bucket, group_by: Dimension | None = None
    ) -> Callable[[], Awaitable[object]]:
        async def asked() -> object:
            span = await spans.asked(conn, None, None, "Europe/Rome", project_id=scope.project_id)
            return await series.timeseries(
                conn, scope, _long(span), metric="sent", bucket=bucket, group_by=group_by
            )

        return asked

    return {
        "overview": of_time,
        "timeseries by day": over_time(Bucket.DAY),
        "timeseries by hour": over_time(Bucket.HOUR),
        "timeseries by day and campaign": over_time(Bucket.DAY, Dimension.CAMPAIGN),
    }


def _long(span: TimeSpan) -> TimeSpan:
    return TimeSpan(span.until - timedelta(days=DAYS), span.until, span.time_zone)


@click.command()
@click.option("--tries", default=20, show_default=True, help="Requests of each kind.")
@click.option("--silent", default=0, show_default=True, help="Of 5 accounts: report no deliveries.")
@click.option("--json", type=click.Path(path_type=Path), help="Write all figures here.")
def main(*, tries: int, silent: int, json: Path | None) -> None:
    """Measure how long answers about counts of 90 days take."""
    uvloop.run(_measure(tries, silent, json))


async def _measure(tries: int, silent: int, json: Path | None) -> None:
    async with own_server() as server:
        report = Report("Counts", {**server.settings, "days": DAYS, "silent": silent})
        async with connect(server.database(), application_name="bench") as conn:
            await conn.execute(_COUNTS, (DAYS,))
            await conn.execute(_ACCOUNTS, (silent,))
            await conn.execute("VACUUM ANALYZE mailqueue.stats_quarters")
            row = await (await conn.execute("SELECT id FROM mailqueue.projects LIMIT 1")).fetchone()
            assert row is not None
            for name, ask in answers(conn, StatsScope(row[0])).items():
                took = []
                for _ in range(tries):
                    began = time.perf_counter()
                    await ask()
                    took.append(1000 * (time.perf_counter() - began))
                figures = {
                    "median ms": median(took),
                    "fastest ms": min(took),
                    "slowest ms": max(took),
                }
                report.add(name, figures)
    report.print()
    report.write(json)


if __name__ == "__main__":
    main()
