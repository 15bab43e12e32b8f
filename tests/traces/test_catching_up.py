"""What an export costs that is behind."""

from datetime import timedelta
from typing import Any

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.traces import store
from mailqueue.traces.exporting import ExportState
from mailqueue.traces.model import TracePage, TraceStep
from tests import make
from tests.traces.collector import collecting, spans_in
from tests.traces.mail import TRACE, sent

pytestmark = pytest.mark.anyio


async def behind(conn: Conn, span: timedelta) -> None:
    """Have the exporter be behind by a time, through which the attempts are spread evenly."""
    await conn.execute(
        "UPDATE mailqueue.send_logs AS l"
        " SET sent_at = x.exported_to - %(span)s * ((n.behind - 0.5) / n.count)"
        " FROM (SELECT s.id, row_number() OVER (ORDER BY s.id DESC)::float8 AS behind,"
        " count(*) OVER () AS count FROM mailqueue.send_logs AS s) AS n,"
        " mailqueue.trace_export AS x WHERE n.id = l.id",
        {"span": span},
    )
    await conn.execute(
        "UPDATE mailqueue.trace_export SET exported_to = exported_to - %s, after_key = ''", (span,)
    )


async def test_catching_up_reads_each_step_a_few_times_however_many_there_are(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages: list[TracePage] = []

    async def reading(conn: Conn, page: TracePage, **options: Any) -> list[TraceStep]:
        pages.append(page)
        return await read_page(conn, page, **options)

    read_page = store.read_page
    monkeypatch.setattr(store, "read_page", reading)
    async with connect(database) as conn, collecting(database, page_steps=2) as (server, exporter):
        await sent(conn, 100, custom_data={"traceparent": TRACE})
        await behind(conn, timedelta(seconds=50))
        while await exporter.turn() is not ExportState.IDLE:
            pass
        times = [at for (at,) in await make.rows(conn, "SELECT sent_at FROM mailqueue.send_logs")]

    assert len({one.span_id for one in spans_in(server.requests)}) == 300
    read = sum(
        page.exported_to <= at < page.until
        for page in pages
        for at in times
        if page.exported_to is not None and page.until is not None
    )
    assert read <= 4 * len(times)


async def test_a_quiet_hour_is_passed_by_minutes(database: DatabaseSettings) -> None:
    async with connect(database) as conn, collecting(database) as (server, exporter):
        await sent(conn, 1, custom_data={"traceparent": TRACE})
        await behind(conn, timedelta(hours=1))
        turns = 1
        while await exporter.turn() is not ExportState.IDLE:
            turns += 1

    assert len(spans_in(server.requests)) == 3
    assert turns <= 70
