"""Events of mail are messages of the outboxes that publish them, written with what happened."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

import pytest
from cloudevents.core.bindings.http import HTTPMessage, from_structured
from cloudevents.core.formats.json import JSONFormat
from psycopg import errors
from psycopg.types.json import Jsonb

from mailqueue.core.consumers import EMAIL_EVENTS
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.webhooks.model import EventType
from tests import make
from tests.adapters.sending.fake import FakeReply, fake
from tests.publishing import outboxes
from tests.stream.reading import read_stream
from tests.webhooks.delivering import told, until, webhook
from tests.webhooks.test_enqueue import claimed, settled

pytestmark = pytest.mark.anyio
URL = "https://app.example.com/hooks"
REPORTED = [
    one.value.removeprefix("email.")
    for one in EventType
    if one not in (EventType.QUEUED, EventType.SENT, EventType.DEFERRED, EventType.NOTICE)
]
TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


async def publishes(
    conn: Conn, events: Sequence[str] | None, *, name: str = "mail", project: str = "default"
) -> None:
    query = (
        "SELECT mailqueue.change_outbox_events(p.id, %s, %s::text[], 'tests')"
        " FROM mailqueue.projects AS p WHERE p.name = %s"
    )
    assert await make.scalar(conn, query, name, None if events is None else [*events], project)


async def with_outbox(
    conn: Conn, events: Sequence[str] | None, *, name: str = "mail", project: str = "default"
) -> None:
    project_id = await make.scalar(
        conn, "SELECT id FROM mailqueue.projects WHERE name = %s", project
    )
    # No email has the type: the webhook itself receives no event.
    hook = await webhook(conn, URL, project_id=project_id)
    await conn.execute(
        "UPDATE mailqueue.webhooks SET event_types = '{webhook.test}' WHERE id = %s", (hook,)
    )
    await outboxes.add(conn, name, hook, project=project)
    await publishes(conn, events, name=name, project=project)


async def written(conn: Conn, name: str = "mail") -> list[tuple[str, dict[str, Any]]]:
    """Return type and body of the messages of an outbox, in order."""
    await read_stream(conn)
    query = (
        "SELECT m.message_type, m.body::jsonb FROM mailqueue.outbox_message AS m"
        " JOIN mailqueue.outbox_state AS s USING (outbox_id) WHERE s.name = %s"
        " ORDER BY m.sequence_number"
    )
    return [(row[0], row[1]) for row in await make.rows(conn, query, name)]


async def test_a_mail_is_published_from_queue_to_sent(conn: Conn) -> None:
    await with_outbox(conn, [])
    conversation, correlation = uuid4(), uuid4()
    ids = {
        "conversation_id": str(conversation),
        "correlation_id": str(correlation),
        "traceparent": TRACE,
    }

    email_id, claim = await claimed(conn, custom_data=Jsonb(ids))
    await settled(conn, email_id, claim, "sent")

    (queued, first), (sent, second) = await written(conn)
    assert (queued, sent) == ("email.queued", "email.sent")
    for kind, body in ((queued, first), (sent, second)):
        assert body["type"] == kind
        assert body["data"]["version"] == 1
        assert body["data"]["email_id"] == str(email_id)
    found = await make.rows(
        conn,
        "SELECT message_id, conversation_id, correlation_id, headers::jsonb"
        " FROM mailqueue.outbox_message ORDER BY sequence_number",
    )
    assert found == [
        (UUID(body["data"]["event_id"]), conversation, correlation, {"traceparent": TRACE})
        for body in (first, second)
    ]
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.webhook_events") == 0


async def test_ids_that_are_no_uuids_stay_in_the_custom_data(conn: Conn) -> None:
    await with_outbox(conn, ["email.queued"])

    await make.queued_email(conn, custom_data=Jsonb({"correlation_id": "81", "traceparent": "x"}))

    [(_, body)] = await written(conn)
    assert body["data"]["custom_data"]["correlation_id"] == "81"
    query = "SELECT correlation_id, headers FROM mailqueue.outbox_message"
    assert await make.rows(conn, query) == [(None, None)]


@pytest.mark.parametrize("kind", REPORTED)
async def test_an_event_of_each_kind_is_one_message_of_an_outbox_that_names_it(
    conn: Conn, kind: str
) -> None:
    await with_outbox(conn, [f"email.{kind}"])
    await with_outbox(conn, ["email.queued"], name="other")

    await told(conn, kind=kind)

    [(published, body)] = await written(conn)
    assert published == body["type"] == f"email.{kind}"
    assert await make.rows(conn, "SELECT message_id FROM mailqueue.outbox_message") == [
        (UUID(body["data"]["event_id"]),)
    ]
    assert await written(conn, "other") == []


async def test_a_deferred_mail_is_published(conn: Conn) -> None:
    await with_outbox(conn, ["email.deferred"])
    email_id, claim = await claimed(conn)

    await settled(conn, email_id, claim, "retry", log="deferred", reason="later", reply="busy")

    [(kind, body)] = await written(conn)
    assert (kind, body["data"]["reason"]) == ("email.deferred", "busy")


async def test_an_outbox_without_events_or_of_another_project_gets_none(conn: Conn) -> None:
    await make.project(conn, "other")
    await with_outbox(conn, None)
    await with_outbox(conn, [], name="theirs", project="other")

    await told(conn)
    await make.queued_email(conn)

    assert await written(conn) == []
    assert await written(conn, "theirs") == []


async def test_a_webhook_and_an_outbox_get_the_same_event(conn: Conn) -> None:
    await with_outbox(conn, [])
    await webhook(conn, URL, event_types=["email.delivered"])

    await told(conn, kind="delivered")
    await told(conn, kind="opened")

    [delivered, opened] = await written(conn)
    assert opened[0] == "email.opened"
    assert await make.rows(conn, "SELECT type, payload::jsonb FROM mailqueue.webhook_events") == [
        delivered
    ]
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.webhook_deliveries") == 1


async def test_events_of_test_mail_are_marked_as_for_webhooks(conn: Conn) -> None:
    await with_outbox(conn, ["email.delivered"])
    await webhook(conn, URL)

    await conn.execute(
        "INSERT INTO mailqueue.email_events (project_id, email_id, type, is_test)"
        " VALUES (%s, gen_random_uuid(), 'delivered', true)",
        (await make.project_named(conn),),
    )

    [(_, body)] = await written(conn)
    assert body["data"]["is_test"] is True
    [(delivered,)] = await make.rows(conn, "SELECT payload FROM mailqueue.webhook_events")
    assert delivered == body


async def test_a_settle_that_is_rolled_back_publishes_nothing(conn: Conn) -> None:
    await with_outbox(conn, ["email.sent"])
    email_id, claim = await claimed(conn)

    async with conn.transaction(force_rollback=True):
        await settled(conn, email_id, claim, "sent")
        assert len(await written(conn)) == 1
    assert await written(conn) == []
    await settled(conn, email_id, claim, "sent")

    assert [kind for kind, _ in await written(conn)] == ["email.sent"]


async def test_an_event_is_written_where_the_project_has_no_room_for_messages(conn: Conn) -> None:
    await with_outbox(conn, ["email.delivered"])
    await conn.execute("UPDATE mailqueue.projects SET max_events = 1 WHERE name = 'default'")
    await told(conn, 3)

    assert len(await written(conn)) == 3
    with pytest.raises(errors.Error) as refused:
        async with conn.transaction():
            await outboxes.publish(conn, 1, outbox="mail")
    assert refused.value.sqlstate == "MQ002"


async def test_an_unknown_type_is_refused_and_every_known_one_is_not(conn: Conn) -> None:
    await with_outbox(conn, [*EMAIL_EVENTS])

    for wrong in (["delivered"], ["email.delivred"], ["email.*"]):
        with pytest.raises(errors.InvalidParameterValue, match=r"^events: there is no type"):
            async with conn.transaction():
                await publishes(conn, wrong)
    query = "SELECT events FROM mailqueue.outbox_state"
    assert await make.scalar(conn, query) == sorted(EMAIL_EVENTS)


async def test_an_outbox_that_publishes_events_is_removed_once_it_publishes_none(
    conn: Conn,
) -> None:
    await with_outbox(conn, [])
    project = await make.project_named(conn)
    removed = "SELECT mailqueue.remove_outbox(%s, 'mail', 'tests')"

    with pytest.raises(errors.ObjectInUse):
        async with conn.transaction():
            await make.scalar(conn, removed, project)
    await publishes(conn, None)

    assert await make.scalar(conn, removed, project) is True


async def test_neither_a_settler_nor_an_event_waits_for_an_open_one_and_order_is_that_of_commits(
    database: DatabaseSettings,
) -> None:
    async with (
        fake([FakeReply(200)]) as server,
        connect(database) as conn,
        connect(database) as early,
    ):
        target = await webhook(conn, f"http://127.0.0.1:{server.port}/")
        await conn.execute("UPDATE mailqueue.webhooks SET event_types = '{webhook.test}'")
        await outboxes.add(conn, "mail", target)
        await publishes(conn, ["email.delivered", "email.opened"])
        await conn.execute("SET lock_timeout = '2s'")
        async with early.transaction():
            await told(early, kind="delivered", is_read=False)
            await told(conn, 2, kind="opened", is_read=False)
            async with outboxes.publishing(database):

                async def are_others_published() -> bool:
                    return len(server.requests) == 2

                await until(are_others_published, what="the events that are committed")
        async with outboxes.publishing(database):

            async def all_arrived() -> bool:
                return len(server.requests) == 3

            await until(all_arrived, what="all events")

        assert outboxes.arrived(server)["mail"] == await outboxes.numbers(conn)
        read = [
            from_structured(HTTPMessage(dict(one.headers), one.body), JSONFormat())
            for one in server.requests
        ]
        kinds = [event.get_type() for event in read]
        assert kinds == ["email.opened", "email.opened", "email.delivered"]
        for event in read:
            data = event.get_data()
            assert isinstance(data, dict)
            assert event.get_id() == data["data"]["event_id"]
            assert event.get_source() == "/default/outboxes/mail"
            assert (data["type"], data["data"]["version"]) == (event.get_type(), 1)
