"""Whatever a collector answers, the export goes on."""

import pytest

from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.traces.exporting import ExportState
from tests import make
from tests.adapters.sending.fake import FakeReply
from tests.traces.collector import TAKEN, collecting, spans_in
from tests.traces.mail import TRACE, exported, sent

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (rb'"no \u0000 space"', "no  space"),
        (b"[" * 1_000 + b"]" * 1_000, None),
        (rb'"\ud800"', None),
        (b'{"a": 1e999}', None),
        (b'"' + b"x" * 100_000 + b'"', None),
        (b"9" * 5_000, None),
        (b"not JSON", None),
    ],
)
async def test_no_answer_of_a_collector_stops_the_export(
    database: DatabaseSettings, answer: bytes, error: str | None
) -> None:
    body = b'{"partialSuccess": {"rejectedSpans": 1, "errorMessage": ' + answer + b"}}"
    async with (
        connect(database) as conn,
        collecting(database, [FakeReply(200, body), TAKEN]) as (server, exporter),
    ):
        await sent(conn, custom_data={"traceparent": TRACE})
        assert await exporter.turn() in (ExportState.MORE, ExportState.IDLE)
        if error is not None:
            found = await make.scalar(conn, "SELECT last_error FROM mailqueue.trace_export")
            assert found == error
        await exported(exporter)
        await sent(conn, custom_data={"traceparent": TRACE})
        await exported(exporter)

    assert len(spans_in(server.requests)) == 6


@pytest.mark.parametrize(
    ("count", "known"),
    [
        ('"2"', 2),
        ("2", 2),
        ("7000000", 3),
        ("9" * 300, 0),
        ("-1", 0),
        ("true", 0),
        ("1.5", 0),
        ('"\u0662"', 0),
        ("[[1]]", 0),
        ("null", 0),
    ],
)
async def test_a_collector_rejects_no_more_spans_than_it_got(
    database: DatabaseSettings, count: str, known: int
) -> None:
    body = f'{{"partialSuccess": {{"rejectedSpans": {count}}}}}'.encode()
    async with (
        connect(database) as conn,
        collecting(database, [FakeReply(200, body), TAKEN]) as (_server, exporter),
    ):
        await sent(conn, custom_data={"traceparent": TRACE})
        await exported(exporter)
        found = await make.rows(conn, "SELECT spans, left_out FROM mailqueue.trace_export")

    assert found == [(3 - known, known)]
