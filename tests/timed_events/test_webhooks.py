"""Timed events as calls of webhooks: signed, with one idempotency key, and ended by delivery."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from standardwebhooks.webhooks import Webhook

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.adapters.sending.fake import Fake, FakeReply, fake
from tests.timed_events import events
from tests.webhooks.delivering import SECRET, delivering, due_now, until, webhook

pytestmark = pytest.mark.anyio
STATES = "SELECT status FROM mailqueue.timed_event_status ORDER BY target_timestamp_utc"


async def put(conn: Conn, target: UUID, key: str | None = None) -> UUID:
    found: UUID = await make.scalar(
        conn,
        "SELECT mailqueue.put_timed_event('renewal', now(), webhook_id => %s,"
        ' payload => \'{"plan": "Team"}\', idempotency_key => %s)',
        target,
        key,
    )
    return found


async def state(conn: Conn, event_id: UUID) -> tuple[Any, ...]:
    query = "SELECT status, retry_count, failure_reason FROM mailqueue.timed_event_status"
    (found,) = await make.rows(conn, f"{query} WHERE id = %s", event_id)
    return found


def keys(server: Fake) -> list[str]:
    return [one.headers["idempotency-key"] for one in server.requests]


async def test_a_call_is_signed_and_has_the_key_of_its_event(database: DatabaseSettings) -> None:
    async with fake([FakeReply(200)]) as server, connect(database) as conn:
        event_id = await put(conn, await webhook(conn, f"http://127.0.0.1:{server.port}/"), "ä 1%")
        await events.fire(conn)
        assert await state(conn, event_id) == ("PROCESSING", 0, None)

        async with delivering(database):

            async def is_done() -> bool:
                return bool((await state(conn, event_id))[0] == "COMPLETED")

            await until(is_done)

        (request,) = server.requests
        Webhook(SECRET).verify(request.body, dict(request.headers))
        assert keys(server) == ["%C3%A4 1%25"]
        data = request.json["data"]
        assert request.json["type"] == "timed_event.due"
        assert (data["event_id"], data["kind"]) == (str(event_id), "renewal")
        assert (data["idempotency_key"], data["payload"]) == ("ä 1%", {"plan": "Team"})
        assert request.headers["webhook-id"] == str(event_id)


async def test_three_retries_with_the_same_key_and_then_the_reason(
    database: DatabaseSettings,
) -> None:
    async with fake([FakeReply(500)]) as server, connect(database) as conn:
        event_id = await put(conn, await webhook(conn, f"http://127.0.0.1:{server.port}/"), "one")
        await events.fire(conn)
        async with delivering(database):

            async def is_over() -> bool:
                await due_now(conn)
                return bool((await state(conn, event_id))[0] == "FAILED")

            await until(is_over)

        assert await state(conn, event_id) == ("FAILED", 3, "answered 500")
        assert keys(server) == ["one"] * 4

        query = "SELECT mailqueue.requeue_timed_events(NULL, ARRAY[%s::uuid], 'tests')"
        assert await make.scalar(conn, query, event_id) == 1
        server.replies = [FakeReply(200)]
        await events.fire(conn)
        async with delivering(database):

            async def is_done() -> bool:
                await due_now(conn)
                return bool((await state(conn, event_id))[0] == "COMPLETED")

            await until(is_done)
        assert keys(server) == ["one"] * 5


async def test_a_birthday_that_failed_is_followed_by_the_next(database: DatabaseSettings) -> None:
    async with fake([FakeReply(410)]) as server, connect(database) as conn:
        target = await webhook(conn, f"http://127.0.0.1:{server.port}/")
        await events.birthdays(conn, webhook_id=target)
        tomorrow = datetime.now(UTC).date() + timedelta(days=1)
        await events.contact(conn, date_of_birth=tomorrow.replace(year=1988))
        await events.make_due(conn)
        await events.fire(conn)
        assert [row[0] for row in await make.rows(conn, STATES)] == ["PROCESSING"]

        async with delivering(database):

            async def has_next() -> bool:
                found = [row[0] for row in await make.rows(conn, STATES)]
                return found == ["FAILED", "PENDING"]

            await until(has_next)
        assert keys(server)[0].endswith(f":{tomorrow}")


async def test_a_removed_contact_ends_a_call_that_waits(conn: Conn) -> None:
    project_id = await make.project_named(conn)
    target = await webhook(conn, "http://127.0.0.1:8080/")
    ann = await events.contact(conn)
    await conn.execute(
        "SELECT mailqueue.put_timed_event('renewal', now(), contact_id => %s, webhook_id => %s)",
        (ann, target),
    )
    await events.fire(conn)
    waiting = "SELECT status, last_error FROM mailqueue.webhook_deliveries"
    assert await make.rows(conn, waiting) == [("pending", None)]

    await conn.execute("SELECT mailqueue.remove_contact(%s, %s)", (project_id, ann))

    assert await make.rows(conn, waiting) == [("cancelled", "the contact was removed")]
    assert await make.rows(conn, "SELECT id FROM mailqueue.timed_events") == []


async def test_a_delivery_that_is_gone_fails_its_event(conn: Conn) -> None:
    event_id = await put(conn, await webhook(conn, "http://127.0.0.1:8080/"))
    await events.fire(conn)
    await conn.execute("DELETE FROM mailqueue.webhook_deliveries")

    await make.scalar(conn, "SELECT mailqueue.end_delivered_timed_events(NULL, 10)")

    assert await state(conn, event_id) == ("FAILED", 0, "the delivery was removed")


async def test_a_disabled_webhook_is_tried_again(conn: Conn) -> None:
    event_id = await put(conn, await webhook(conn, "http://127.0.0.1:8080/"))
    await conn.execute(
        "UPDATE mailqueue.webhooks SET is_enabled = false, disabled_at = now(),"
        " disabled_reason = 'operator'"
    )
    await events.fire(conn)

    assert await state(conn, event_id) == (
        "PENDING",
        1,
        "its webhook is disabled or was removed",
    )
