"""Calls of webhooks are spans under the event that they told."""

from typing import Any
from uuid import UUID

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.traces import store
from mailqueue.traces.exporting import ExportState
from mailqueue.traces.model import TraceCall
from mailqueue.webhooks.model import CallOutcome
from tests import make
from tests.adapters.sending.fake import FakeReply, fake
from tests.traces.collector import TAKEN, collecting, facts, spans_in
from tests.traces.mail import SPAN_ID, TRACE, TRACE_ID, exported, sent
from tests.webhooks.delivering import delivering, due_now, states, told, until, webhook
from tests.webhooks.settling import claim, settle

pytestmark = pytest.mark.anyio
URL = "https://hooks.example.com/secret-path?token=opensesame"
WAITING = "SELECT count(*) FROM mailqueue.webhook_attempts WHERE awaits_trace"


async def called(conn: Conn, *outcomes: CallOutcome) -> None:
    """Call the endpoint for each due delivery, once for each outcome."""
    for outcome in outcomes:
        await due_now(conn)
        await settle(conn, await claim(conn), outcome)


async def test_calls_are_spans_under_their_event_each_once_and_only_of_sampled_emails(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        await webhook(conn, URL, event_types=["email.delivered"])
        [before] = await sent(conn, custom_data={"traceparent": TRACE})
        await told(conn, email_id=before)
        await called(conn, CallOutcome.DELIVERED)
        assert await make.scalar(conn, WAITING) == 0, "nothing is exported yet"
        async with collecting(database) as (server, exporter):
            [email] = await sent(conn, custom_data={"traceparent": TRACE})
            await told(conn, email_id=email)
            await exported(exporter)
            [other] = await sent(conn, custom_data={"traceparent": f"00-{'7' * 32}-{SPAN_ID}-00"})
            await told(conn, email_id=other)
            await told(conn)  # about an email that is not stored
            await called(conn, CallOutcome.FAILED, CallOutcome.DELIVERED)
            assert await make.scalar(conn, WAITING) == 6
            await exported(exporter)
            assert await make.scalar(conn, WAITING) == 0

    spans = spans_in(server.requests)
    [event] = [one for one in spans if one.name == "event delivered"]
    failed, delivered = [one for one in spans if one.name == "webhook email.delivered"]
    assert {one.trace_id.hex() for one in spans} == {TRACE_ID}
    assert {failed.parent_span_id, delivered.parent_span_id} == {event.span_id}
    assert len({one.span_id for one in spans}) == len(spans)
    assert (failed.kind, failed.status.code, delivered.status.code) == (3, 2, 0)
    assert failed.start_time_unix_nano <= failed.end_time_unix_nano
    known = facts(failed)
    assert known["error.type"] == str(known["http.response.status_code"])
    assert known["server.address"] == "hooks.example.com"
    assert known["messaging.message.id"] == str(email)
    assert facts(delivered)["http.request.resend_count"] == 1
    assert not any(
        b"secret-path" in one.body or b"opensesame" in one.body for one in server.requests
    )


async def test_the_header_of_a_call_names_the_span_of_that_call(
    database: DatabaseSettings,
) -> None:
    """Where nothing is exported, and of emails that are not sampled, the caller's own span."""
    unsampled = f"00-{'7' * 32}-{SPAN_ID}-00"
    async with fake([FakeReply(500), FakeReply(204)]) as receiver, connect(database) as conn:
        url = f"http://127.0.0.1:{receiver.port}/hooks"
        hook = await webhook(conn, url, event_types=["email.delivered"])

        async def called(context: str) -> None:
            [email] = await sent(conn, custom_data={"traceparent": context})
            await told(conn, email_id=email)
            async with delivering(database):
                await until(lambda: are_all(conn, hook, "delivered"))

        async def has_failed() -> bool:
            query = "SELECT count(*) FROM mailqueue.webhook_attempts WHERE error IS NOT NULL"
            return bool(await make.scalar(conn, query))

        async with collecting(database) as (server, exporter):
            [email] = await sent(conn, custom_data={"traceparent": TRACE})
            await told(conn, email_id=email)
            async with delivering(database):
                await until(has_failed)
                await due_now(conn)
                await until(lambda: are_all(conn, hook, "delivered"))
            await called(unsampled)
            await exported(exporter)
        await conn.execute("DELETE FROM mailqueue.trace_export")
        await called(TRACE)

    calls = [one for one in spans_in(server.requests) if one.name == "webhook email.delivered"]
    named = [f"00-{one.trace_id.hex()}-{one.span_id.hex()}-01" for one in calls]
    assert len(set(named)) == 2
    got = [one.headers["traceparent"] for one in receiver.requests]
    assert got == [*named, unsampled, TRACE]


async def are_all(conn: Conn, hook: UUID, status: str) -> bool:
    return set(await states(conn, hook)) == {status}


async def test_a_dead_collector_holds_nothing_up_and_each_turn_reads_a_page(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages: list[int] = []

    async def reading(conn: Conn, **options: Any) -> list[TraceCall]:
        found = await read_calls(conn, **options)
        pages.append(len(found))
        return found

    read_calls = store.read_calls
    monkeypatch.setattr(store, "read_calls", reading)
    replies = [*[FakeReply(503)] * 3, TAKEN]
    async with (
        connect(database) as conn,
        collecting(database, replies, page_steps=4) as (server, exporter),
    ):
        await webhook(conn, URL, event_types=["email.delivered"])
        for _ in range(3):
            [email] = await sent(conn, custom_data={"traceparent": TRACE})
            await told(conn, email_id=email)
            await called(conn, CallOutcome.DELIVERED)
            assert await exporter.turn() is ExportState.FAILED
        while await exporter.turn() is not ExportState.IDLE:
            pass
        assert await make.scalar(conn, WAITING) == 0

    assert max(pages) == 2
    taken = spans_in(server.requests[3:])
    assert len({one.span_id for one in taken}) == 3 * 5
    assert len(spans_in(server.requests[:1])) <= 4 * 3 + 2
