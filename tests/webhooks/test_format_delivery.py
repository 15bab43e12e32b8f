"""Deliveries of webhooks in the formats of providers, by a worker."""

from collections.abc import AsyncIterator

import pytest

from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.webhooks import endpoints
from mailqueue.webhooks.model import WithSecret
from tests import make
from tests.adapters.sending.fake import Fake, FakeReply, fake
from tests.webhooks.delivering import LOOPBACK, delivering, due_now, master, states, told, until

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


async def added(conn: Conn, server: Fake, form: str) -> WithSecret:
    return await endpoints.add(
        conn,
        await make.project_named(conn),
        url=f"http://127.0.0.1:{server.port}/hooks",
        event_types=[],
        description=None,
        secret=None,
        allowed=LOOPBACK.allowed_networks,
        master=master(),
        by="tests",
        form=form,
    )


async def test_an_event_that_the_format_lacks_fails_by_name(
    db: Conn, database: DatabaseSettings
) -> None:
    """Such as a timed event, which names its webhook."""
    async with fake([FakeReply(204)]) as server:
        hook = (await added(db, server, "postmark")).webhook.id
        await told(db)
        await db.execute("UPDATE mailqueue.webhook_deliveries SET type = 'timed_event.due'")

        async def has_failed() -> bool:
            return await states(db, hook) == ["failed"]

        async with delivering(database):
            await until(has_failed, what="failed")

    assert server.requests == []
    why = await make.scalar(db, "SELECT last_error FROM mailqueue.webhook_deliveries")
    assert why == "format postmark has no event timed_event.due"


async def test_a_repeated_attempt_is_signed_anew_under_the_same_token(
    db: Conn, database: DatabaseSettings
) -> None:
    async with fake([FakeReply(503), FakeReply(204)]) as server:
        hook = (await added(db, server, "mailgun")).webhook.id
        await told(db)

        async def is_delivered() -> bool:
            await due_now(db)
            return await states(db, hook) == ["delivered"]

        async with delivering(database):
            await until(is_delivered, what="delivered")

    first, second = (one.json for one in server.requests)
    assert first["signature"]["token"] == second["signature"]["token"]
    assert first["event-data"] == second["event-data"]


async def test_webhooks_of_two_formats_get_the_same_event(
    db: Conn, database: DatabaseSettings
) -> None:
    async with fake([FakeReply(204)]) as ours, fake([FakeReply(204)]) as theirs:
        hooks = [
            (await added(db, ours, "mailqueue")).webhook.id,
            (await added(db, theirs, "sendgrid")).webhook.id,
        ]
        await told(db)

        async def are_delivered() -> bool:
            return [await states(db, hook) for hook in hooks] == [["delivered"], ["delivered"]]

        async with delivering(database):
            await until(are_delivered, what="delivered")

    (own,), (other,) = ours.requests, theirs.requests
    assert own.json["type"] == "email.delivered"
    assert other.json[0]["sg_event_id"] == own.json["data"]["event_id"]
