"""What the database recorded about emails reaches a collector as one trace, each span once."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from mailqueue.db.pool import connect
from mailqueue.events.model import Type
from mailqueue.mail.model import Ending, LogStatus
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.traces import exporting
from mailqueue.traces.exporting import ExportState
from tests import make
from tests.adapters.sending.fake import FakeReply
from tests.events.sent_mail import event, told
from tests.logged import log_of
from tests.mail.claim import steps
from tests.traces.collector import TAKEN, collecting, facts, spans_in
from tests.traces.mail import SPAN_ID, TRACE, TRACE_ID, exported, sent

pytestmark = pytest.mark.anyio

UNSAMPLED = f"00-{TRACE_ID}-{SPAN_ID}-00"
DOWN = FakeReply(503)


async def test_an_email_and_what_follows_are_one_trace_under_the_callers_span(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn, collecting(database) as (server, exporter):
        [email] = await sent(conn, custom_data={"traceparent": TRACE})
        await exported(exporter)
        await told(conn, event(Type.HARD_BOUNCE, email_id=email, code="5.1.1"))
        await exported(exporter)

    spans = {one.name.split()[0]: one for one in spans_in(server.requests)}
    assert set(spans) == {"accept", "wait", "hand", "event"}
    assert {one.trace_id.hex() for one in spans.values()} == {TRACE_ID}
    accept = spans.pop("accept")
    assert accept.parent_span_id.hex() == SPAN_ID
    assert {one.parent_span_id for one in spans.values()} == {accept.span_id}
    assert accept.start_time_unix_nano <= spans["wait"].start_time_unix_nano
    assert spans["wait"].end_time_unix_nano == spans["hand"].start_time_unix_nano
    assert accept.kind == accept.SPAN_KIND_PRODUCER
    assert spans["hand"].kind == accept.SPAN_KIND_CLIENT
    assert spans["hand"].status.code == 0
    assert spans["event"].status.code == 2
    assert facts(spans["event"])["error.type"] == "5.1.1"
    known = facts(spans["hand"])
    assert known["messaging.system"] == "mailqueue"
    assert known["messaging.message.id"] == str(email)
    assert known["mailqueue.outcome"] == "sent"
    for request in server.requests:
        assert request.headers["content-type"] == "application/json"
        assert request.headers["x-collector-key"] == "a secret"
        assert b"@" not in request.body
        assert b"Hello" not in request.body


async def test_each_span_is_exported_once_and_only_of_sampled_emails(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn, collecting(database) as (server, exporter):
        await sent(conn, 3, custom_data={"traceparent": TRACE})
        await sent(conn, 2, custom_data={"traceparent": UNSAMPLED})
        await sent(conn, 2)
        await exported(exporter)
        await exported(exporter)

    spans = spans_in(server.requests)
    assert len(spans) == 9
    assert len({one.span_id for one in spans}) == 9


@pytest.mark.parametrize(("ratio", "count"), [(0.0, 0), (1.0, 4)])
async def test_emails_without_a_context_are_sampled_by_the_ratio(
    database: DatabaseSettings, ratio: float, count: int
) -> None:
    async with connect(database) as conn, collecting(database, ratio=ratio) as (server, exporter):
        ids = await sent(conn, 4, custom_data={"traceparent": "nonsense"})
        await sent(conn, 1, custom_data={"traceparent": UNSAMPLED})
        await exported(exporter)

    spans = spans_in(server.requests)
    assert len({one.span_id for one in spans}) == 3 * count
    assert {UUID(one.trace_id.hex()) for one in spans} == set(ids[:count])


async def test_each_attempt_has_spans_and_a_refusal_is_an_error(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn, collecting(database) as (server, exporter):
        await make.sender_account(conn)
        worker = await make.worker(conn)
        await make.queued_email(conn, custom_data={"traceparent": TRACE})
        emails = await steps.claim(conn, worker)
        await steps.settle(
            conn, emails, Ending.RETRY, log=LogStatus.DEFERRED, code="451", enhanced="4.3.0"
        )
        await exported(exporter)
        await steps.due_now(conn)
        emails = await steps.claim(conn, worker)
        await steps.sent(conn, emails)
        await exported(exporter)

    spans = spans_in(server.requests)
    handed = [one for one in spans if one.name.startswith("hand over")]
    assert [one.status.code for one in handed] == [2, 0]
    assert facts(handed[0])["error.type"] == "4.3.0"
    assert [facts(one)["mailqueue.attempt"] for one in handed] == [1, 2]
    assert len([one for one in spans if one.name.startswith("accept")]) == 1


async def test_a_page_is_bounded_and_the_next_has_the_rest(database: DatabaseSettings) -> None:
    async with (
        connect(database) as conn,
        collecting(database, page_steps=3) as (server, exporter),
    ):
        await sent(conn, 10, custom_data={"traceparent": TRACE})
        states = await exported(exporter, 6)

    assert states.count(ExportState.MORE) >= 3
    assert len({one.span_id for one in spans_in(server.requests)}) == 30
    assert max(len(spans_in([one])) for one in server.requests) <= 9


async def test_a_collector_that_is_down_gets_what_it_missed_and_is_logged_once(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = log_of(exporting, monkeypatch)
    async with (
        connect(database) as conn,
        collecting(database, [DOWN, DOWN, DOWN, TAKEN]) as (server, exporter),
    ):
        await sent(conn, 2, custom_data={"traceparent": TRACE})
        states = await exported(exporter, 3)
        error = await make.scalar(conn, "SELECT last_error FROM mailqueue.trace_export")
        assert await exporter.turn() in (ExportState.MORE, ExportState.IDLE)
        later = await make.rows(
            conn, "SELECT last_error, spans, left_out FROM mailqueue.trace_export"
        )

    assert states == [ExportState.FAILED] * 3
    assert error == "it answered 503"
    assert later == [(None, 6, 0)]
    assert len(spans_in(server.requests[-1:])) == 6
    lines = written.getvalue().decode()
    assert lines.count("traces.collector_failed") == 1
    assert lines.count("traces.recovered") == 1
    assert "a secret" not in lines


async def test_what_a_collector_does_not_take_for_too_long_is_left_out_and_counted(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = log_of(exporting, monkeypatch)
    async with (
        connect(database) as conn,
        collecting(database, [DOWN, TAKEN], max_age=timedelta(hours=1)) as (server, exporter),
    ):
        await sent(conn, 2, custom_data={"traceparent": TRACE})
        assert await exporter.turn() is ExportState.FAILED
        for table, column in (("send_logs", "sent_at"), ("email_events", "occurred_at")):
            await conn.execute(
                f"UPDATE mailqueue.{table} SET {column} = {column} - interval '2 h'".encode()
            )
        await conn.execute(
            "UPDATE mailqueue.trace_export SET exported_to = exported_to - interval '2 h'"
        )
        for _ in range(200):
            if await exporter.turn() is ExportState.IDLE:
                break
        [(left_out, spans)] = await make.rows(
            conn, "SELECT left_out, spans FROM mailqueue.trace_export"
        )

    assert (left_out, spans) == (6, 0)
    assert len(server.requests) == 1
    assert '"count":6' in written.getvalue().decode().replace(" ", "")


@pytest.mark.parametrize("status", [400, 413])
async def test_spans_that_a_collector_refuses_stop_no_others(
    database: DatabaseSettings, status: int
) -> None:
    async with (
        connect(database) as conn,
        collecting(database, [FakeReply(status), TAKEN]) as (server, exporter),
    ):
        await sent(conn, custom_data={"traceparent": TRACE})
        await exported(exporter)
        await sent(conn, custom_data={"traceparent": TRACE})
        await exported(exporter)
        left_out = await make.scalar(conn, "SELECT left_out FROM mailqueue.trace_export")

    assert left_out == 3
    assert len(spans_in(server.requests[1:])) == 3


async def test_one_process_at_a_time_exports(database: DatabaseSettings) -> None:
    async with (
        connect(database) as conn,
        collecting(database) as (server, exporter),
        collecting(database) as (other_server, other),
    ):
        await sent(conn, custom_data={"traceparent": TRACE})
        assert await other.turn() is ExportState.HELD
        await exported(exporter)
        await conn.execute("UPDATE mailqueue.trace_export SET lease_until = now() - interval '1 s'")
        await sent(conn, custom_data={"traceparent": TRACE})
        await exported(other)

    assert len(spans_in(server.requests)) == 3
    assert len(spans_in(other_server.requests)) == 3


async def test_what_commits_late_is_exported(database: DatabaseSettings) -> None:
    async with (
        connect(database) as late,
        collecting(database) as (server, exporter),
    ):
        async with late.transaction():
            await sent(late, custom_data={"traceparent": TRACE})
            await exported(exporter)
            assert server.requests == []
        await exported(exporter)

    assert len(spans_in(server.requests)) == 3


async def test_mail_from_before_the_export_was_turned_on_is_not_exported(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        await sent(conn, custom_data={"traceparent": TRACE})
        async with collecting(database) as (server, exporter):
            await exported(exporter)

    assert server.requests == []


async def test_mail_that_is_no_longer_stored_stops_nothing(database: DatabaseSettings) -> None:
    async with connect(database) as conn, collecting(database, page_steps=1) as (server, exporter):
        [gone] = await sent(conn, custom_data={"traceparent": TRACE})
        await make.by_hand(conn)
        await conn.execute("DELETE FROM mailqueue.email_history WHERE id = %s", (gone,))
        await sent(conn, custom_data={"traceparent": TRACE})
        await exported(exporter, 6)

    assert len(spans_in(server.requests)) == 3


async def test_suppressed_mail_has_a_trace_although_it_had_no_attempt(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn, collecting(database) as (server, exporter):
        project = await make.project_named(conn)
        await make.rows(
            conn,
            "SELECT mailqueue.suppress(%s, 'ann@example.com', '', 'manual', NULL, NULL, 'manual')",
            project,
        )
        await make.queued_email(conn, custom_data={"traceparent": TRACE})
        await exported(exporter)

    spans = spans_in(server.requests)
    assert [one.name for one in spans] == ["accept email_queue", "event suppressed"]


async def test_without_an_export_nothing_is_written(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        await sent(conn, custom_data={"traceparent": TRACE})
        found: Any = await make.scalar(conn, "SELECT count(*) FROM mailqueue.trace_export")

    assert found == 0
