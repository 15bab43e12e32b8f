"""A subscriber gets no event from before it subscribed, and loses none that it subscribed to."""

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.stream import consumers
from tests import make
from tests.publishing.test_events import publishes, with_outbox
from tests.stream.reading import read_stream
from tests.stream.test_consumers import PAST
from tests.webhooks.delivering import told, webhook

pytestmark = pytest.mark.anyio
URL = "https://app.example.com/hooks"
PUBLISHED = "SELECT message_type FROM mailqueue.outbox_message ORDER BY sequence_number"
DELIVERED = "SELECT type FROM mailqueue.webhook_deliveries WHERE webhook_id = %s ORDER BY id"


async def all_that_is(conn: Conn, *kinds: str) -> None:
    """Write events that no consumer has handled yet."""
    for kind in kinds:
        await told(conn, kind=kind, is_read=False)


async def replay_all(conn: Conn) -> None:
    for name in ("webhooks", "outboxes"):
        await consumers.replay(conn, name, PAST, is_dry=False, by="tests")
    await read_stream(conn)


async def test_an_outbox_publishes_no_event_from_before_it_subscribed_to_its_type(
    conn: Conn,
) -> None:
    await webhook(conn, URL)  # which wants all events, so that they are in the stream
    await with_outbox(conn, None)
    await all_that_is(conn, "delivered", "opened")
    await publishes(conn, ["email.delivered"])
    await all_that_is(conn, "delivered", "opened")
    await publishes(conn, [])
    await all_that_is(conn, "opened")

    await read_stream(conn)
    published = ["email.delivered", "email.opened"]
    assert [row[0] for row in await make.rows(conn, PUBLISHED)] == published
    await replay_all(conn)
    assert [row[0] for row in await make.rows(conn, PUBLISHED)] == published


async def test_an_outbox_publishes_what_it_subscribed_to_before_its_types_were_changed(
    conn: Conn,
) -> None:
    await webhook(conn, URL)
    await with_outbox(conn, [])
    await all_that_is(conn, "delivered", "opened")
    await publishes(conn, ["email.delivered"])
    await publishes(conn, ["email.delivered", "email.clicked"])
    await all_that_is(conn, "clicked")
    await publishes(conn, [])

    await read_stream(conn)
    published = [row[0] for row in await make.rows(conn, PUBLISHED)]
    assert published == ["email.delivered", "email.clicked"]


async def test_a_webhook_gets_no_event_from_before_it_subscribed_to_its_type_or_was_enabled(
    conn: Conn,
) -> None:
    await webhook(conn, URL)
    project = await make.project_named(conn)
    late = await webhook(conn, URL, event_types=["email.delivered"])
    await all_that_is(conn, "delivered", "opened")
    change = "SELECT mailqueue.change_webhook(%s, %s, %s, NULL, %s, 'tests')"
    await conn.execute(change, (project, late, URL, ["email.delivered", "email.opened"]))
    await all_that_is(conn, "delivered", "opened")
    await read_stream(conn)
    delivered = ["email.delivered", "email.delivered", "email.opened"]
    assert [row[0] for row in await make.rows(conn, DELIVERED, late)] == delivered

    switch = "SELECT mailqueue.switch_webhook(%s, %s, %s, 'tests')"
    await conn.execute(switch, (project, late, False))
    await all_that_is(conn, "opened")
    await conn.execute(switch, (project, late, True))
    await read_stream(conn)
    assert [row[0] for row in await make.rows(conn, DELIVERED, late)] == delivered
    await replay_all(conn)
    assert [row[0] for row in await make.rows(conn, DELIVERED, late)] == delivered
