"""A worker of webhooks with good, slow, silent and broken endpoints."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest
import standardwebhooks

from mailqueue.core.queues.registry import queue_named
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.queue import store as queue_store
from mailqueue.queue.concurrency import MAX_SHARE
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.webhooks import endpoints
from mailqueue.webhooks.model import ClaimedDelivery
from mailqueue.webhooks.store import deliveries as deliveries_store
from tests import make
from tests.adapters.sending.fake import CLOSES, SILENT, Fake, FakeReply, fake
from tests.webhooks.delivering import (
    SECRET,
    deliver,
    delivering,
    due_now,
    master,
    states,
    told,
    tools,
    until,
    webhook,
)

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def database(module_db: str) -> DatabaseSettings:
    return DatabaseSettings(Secret(module_db))


@pytest.fixture
async def db(database: DatabaseSettings) -> AsyncIterator[Conn]:
    """A connection that commits; rows of the previous test are deleted."""
    async with connect(database) as conn:
        await conn.execute(
            "TRUNCATE mailqueue.webhooks, mailqueue.webhook_events,"
            " mailqueue.webhook_deliveries, mailqueue.webhook_attempts"
        )
        yield conn


def url_of(server: Fake, path: str = "/hooks") -> str:
    return f"http://127.0.0.1:{server.port}{path}"


async def all_are(conn: Conn, webhook_id: object, state: str) -> bool:
    found = await states(conn, webhook_id)  # type: ignore[arg-type]
    return bool(found) and set(found) == {state}


async def test_every_event_arrives_once_and_is_signed(db: Conn, database: DatabaseSettings) -> None:
    async with fake([FakeReply(204)]) as server:
        hook = await webhook(db, url_of(server))
        await told(db, 60)
        async with delivering(database):
            await until(lambda: all_are(db, hook, "delivered"), what="delivered")

    ids = [one.headers["webhook-id"] for one in server.requests]
    assert len(ids) == len(set(ids)) == 60
    assert server.connections <= queue_named("webhooks").concurrency // MAX_SHARE
    for one in server.requests:
        headers = dict(one.headers)
        event = standardwebhooks.Webhook(SECRET).verify(one.body.decode(), headers)
        assert event["data"]["event_id"] == headers["webhook-id"]
        assert (one.method, one.path) == ("POST", "/hooks")
    attempts = await make.rows(
        db, "SELECT status_code, error, attempt, request_headers FROM mailqueue.webhook_attempts"
    )
    assert len(attempts) == 60
    assert {row[:3] for row in attempts} == {(204, None, 1)}
    assert not any("signature" in name for row in attempts for name in row[3])


async def test_a_failure_is_logged_and_tried_again_under_the_same_id(
    db: Conn, database: DatabaseSettings
) -> None:
    moved = FakeReply(302, closes=True)
    async with fake([FakeReply(500, b"x" * 10_000), moved, CLOSES, FakeReply(200)]) as server:
        hook = await webhook(db, url_of(server))
        await told(db)
        async with delivering(database):
            for count in (1, 2, 3):

                async def tried(count: int = count) -> bool:
                    query = "SELECT count(*) FROM mailqueue.webhook_attempts"
                    return bool(await make.scalar(db, query) == count)

                await until(tried, what=f"attempt {count}")
                await due_now(db)
            await until(lambda: all_are(db, hook, "delivered"), what="delivered")

    assert len({one.headers["webhook-id"] for one in server.requests}) == 1
    found = await make.rows(
        db,
        "SELECT attempt, status_code, error, length(response) FROM mailqueue.webhook_attempts"
        " ORDER BY tried_at",
    )
    assert found == [
        (1, 500, "answered 500", 4096),
        (2, 302, "answered 302, and redirects are not followed", 0),
        (3, None, "the server's response is not HTTP", None),
        (4, 200, None, 0),
    ]


async def test_silent_and_dead_endpoints_keep_no_other_waiting(
    db: Conn, database: DatabaseSettings
) -> None:
    """The good endpoint has all its events while the others still hang."""
    async with fake([SILENT]) as silent, fake([FakeReply(200)]) as good:
        mute = [await webhook(db, url_of(silent)) for _ in range(8)]
        for scheme in ("http", "https"):  # no server, or one without TLS
            await webhook(db, f"{scheme}://127.0.0.2:{good.port}/")
        fine = await webhook(db, url_of(good))
        await told(db, 30)
        async with delivering(database, total_s=3.0, in_flight=8):
            await until(lambda: all_are(db, fine, "delivered"), what="the good one")
            delivered = await make.scalar(
                db,
                "SELECT count(*) FROM mailqueue.webhook_deliveries"
                " WHERE webhook_id = ANY (%s) AND status = 'delivered'",
                mute,
            )

    assert delivered == 0
    assert len(good.requests) == 30


async def test_two_workers_share_the_work_and_deliver_nothing_twice(
    db: Conn, database: DatabaseSettings
) -> None:
    async with fake([FakeReply(200)]) as server:
        hooks = [await webhook(db, url_of(server, f"/{n}")) for n in range(4)]
        async with delivering(database), delivering(database):
            for _ in range(5):
                await told(db, 20)
            for hook in hooks:
                await until(lambda hook=hook: all_are(db, hook, "delivered"))  # type: ignore[misc]

    seen = Counter((one.path, one.headers["webhook-id"]) for one in server.requests)
    assert len(seen) == 400
    assert set(seen.values()) == {1}


async def test_events_recorded_while_no_worker_runs_are_delivered_later(
    db: Conn, database: DatabaseSettings
) -> None:
    async with fake([FakeReply(200)]) as server:
        hook = await webhook(db, url_of(server))
        async with delivering(database):
            pass
        await told(db)
        assert await states(db, hook) == ["pending"]
        async with delivering(database):
            await until(lambda: all_are(db, hook, "delivered"))


async def test_what_a_dead_worker_had_is_delivered_by_another(
    db: Conn, database: DatabaseSettings
) -> None:
    async with fake([FakeReply(200)]) as server:
        hook = await webhook(db, url_of(server))
        await told(db, 3)
        number = await make.worker(db)
        spec = queue_named("webhooks")
        dead = await queue_store.claim(db, spec, ClaimedDelivery, worker=number, limit=10, first=10)
        assert len(dead) == 3
        await make.silent(db, number)
        await queue_store.rescue(db, silence=timedelta(seconds=30))
        async with delivering(database):
            await until(lambda: all_are(db, hook, "delivered"))

    assert {
        row[0] for row in await make.rows(db, "SELECT attempts FROM mailqueue.webhook_deliveries")
    } == {1}


async def test_while_a_secret_is_replaced_both_sign_and_the_worker_hears_of_it(
    db: Conn, database: DatabaseSettings
) -> None:
    async with fake([FakeReply(200)]) as server:
        hook = await webhook(db, url_of(server))
        project = await make.project_named(db)
        async with delivering(database):
            await told(db)
            await until(lambda: all_are(db, hook, "delivered"))
            rotated = await endpoints.rotate(
                db,
                project,
                hook,
                secret=None,
                overlap=endpoints.DEFAULT_OVERLAP,
                master=master(),
                by="tests",
            )
            await told(db)
            await until(lambda: all_are(db, hook, "delivered"))
            await db.execute("UPDATE mailqueue.webhooks SET previous_until = now(), revision = 9")
            await told(db)
            await until(lambda: all_are(db, hook, "delivered"))

    before, both, after = server.requests
    new = rotated.secret.reveal()
    accepts(before, SECRET)
    accepts(both, SECRET, new)
    accepts(after, new)
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        accepts(after, SECRET)


def accepts(request: object, *secrets: str) -> None:
    for secret in secrets:
        standardwebhooks.Webhook(secret).verify(request.body.decode(), dict(request.headers))  # type: ignore[attr-defined]


async def test_an_endpoint_that_is_gone_hears_nothing_more(
    db: Conn, database: DatabaseSettings
) -> None:
    async with fake([FakeReply(410)]) as server:
        hook = await webhook(db, url_of(server))
        await told(db, 20)
        async with delivering(database):

            async def is_over() -> bool:
                await deliveries_store.tidy(db, limit=100)
                return sorted(await states(db, hook)) == ["cancelled"] * 19 + ["failed"]

            await until(is_over)

    found = await endpoints.find(db, None, hook)
    assert (found.is_enabled, found.disabled_reason, found.circuit) == (False, "gone", "disabled")


async def test_where_secrets_cannot_be_opened_events_wait_without_an_attempt(
    db: Conn, database: DatabaseSettings
) -> None:
    async with fake([FakeReply(200)]) as server:
        hook = await webhook(db, url_of(server))
        await told(db)
        stop = asyncio.Event()
        keyless = replace(tools(), read_master=lambda: None)
        running = asyncio.create_task(deliver(database, keyless, stop))

        async def is_put_off() -> bool:
            query = (
                "SELECT count(*) FROM mailqueue.webhook_deliveries WHERE status = 'pending'"
                " AND attempts = 0 AND last_error = 'its secret cannot be opened here'"
            )
            return bool(await make.scalar(db, query))

        await until(is_put_off)
        stop.set()
        await running

    assert server.requests == []
    assert (await endpoints.find(db, None, hook)).failures == 0
