"""An event is handled once for each message and consumer, in the caller's transaction."""

import asyncio
from uuid import UUID, uuid4

import pytest
from psycopg import errors
from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.inbox import events
from tests.inbox.events import consume, rule

pytestmark = pytest.mark.anyio

MAIL = """
    SELECT recipient_email, recipient_name, priority, tags, custom_data, is_test
    FROM mailqueue.email_queue
"""
DOCUMENTED = [
    "id",
    "message_id",
    "consumer_id",
    "lock_id",
    "row_version",
    "received",
    "receive_count",
    "expiration_time",
    "consumed",
    "delivered",
    "last_sequence_number",
]


async def test_the_inbox_begins_with_the_documents_eleven_columns(conn: Conn) -> None:
    found = await make.rows(
        conn,
        "SELECT attname::text FROM pg_attribute WHERE attrelid = 'mailqueue.inbox_state'::regclass"
        " AND attnum > 0 ORDER BY attnum LIMIT 11",
    )

    assert [row[0] for row in found] == DOCUMENTED


async def test_a_rule_makes_mail_of_an_event(conn: Conn) -> None:
    project = await events.project_with_template(conn)
    await rule(
        conn,
        project,
        recipient_name="$.customer.name",
        priority="high",
        tags=["orders"],
        condition="$.total > 100",
    )

    done = await consume(conn)

    assert done["status"] == "handled"
    assert not done["is_duplicate"]
    assert [action["result"] for action in done["actions"]] == ["mail"]
    [(email, name, priority, tags, data, is_test)] = await make.rows(conn, MAIL)
    assert (email, name, priority, tags, is_test) == (
        "ann@example.com",
        "Ann Lee",
        1,
        ["orders"],
        False,
    )
    assert data["variables"] == {"name": "Ann Lee"}
    assert data["event_type"] == "OrderPlaced"
    assert (
        await make.scalar(conn, "SELECT id::text FROM mailqueue.email_queue") in done["email_ids"]
    )


async def test_a_repeated_delivery_gets_the_first_answer(conn: Conn) -> None:
    project = await events.project_with_template(conn)
    await rule(conn, project)
    message = uuid4()

    first = await consume(conn, message=message)
    again = await consume(conn, {"customer": {"email": "bob@example.com"}}, message=message)

    assert again == first | {"is_duplicate": True, "receive_count": 2}
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_queue") == 1
    assert await make.rows(
        conn, "SELECT receive_count, consumed IS NULL, delivered IS NULL FROM mailqueue.inbox_state"
    ) == [(2, False, False)]


async def test_another_consumer_of_a_message_handles_it_too(conn: Conn) -> None:
    project = await events.project_with_template(conn)
    await rule(conn, project)
    message = uuid4()
    query = "SELECT mailqueue.consume(%s, %s, 'OrderPlaced', %s) ->> 'is_duplicate'"

    for consumer in (uuid4(), uuid4()):
        assert (await make.scalar(conn, query, message, consumer, Jsonb(events.ORDER))) == "false"

    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_queue") == 2


async def test_projects_do_not_share_messages(conn: Conn) -> None:
    await rule(conn, await events.project_with_template(conn))
    await rule(conn, await events.project_with_template(conn, "shop"))
    message = uuid4()

    first = await consume(conn, message=message)
    other = await consume(conn, message=message, project="shop")

    assert not other["is_duplicate"]
    assert other["email_ids"] != first["email_ids"]


@pytest.fixture
async def owner(database: DatabaseSettings) -> None:
    async with connect(database) as opened:
        await rule(opened, await events.project_with_template(opened))


@pytest.mark.usefixtures("owner")
@pytest.mark.parametrize("ends", ["commit", "rollback"])
async def test_a_delivery_waits_for_the_transaction_of_another(
    database: DatabaseSettings, ends: str
) -> None:
    message = uuid4()
    async with connect(database) as first, connect(database) as second:
        await first.execute("BEGIN")
        done = await consume(first, message=message)
        pid = second.info.backend_pid
        waiting = asyncio.create_task(consume(second, message=message))
        while not await make.scalar(first, "SELECT cardinality(pg_blocking_pids(%s)) > 0", pid):
            assert not waiting.done()
        await first.execute(ends.encode())
        told = await waiting

        if ends == "commit":
            assert told == done | {"is_duplicate": True, "receive_count": 2}
        else:
            assert not told["is_duplicate"]
            assert told["email_ids"] != done["email_ids"]
        assert await make.scalar(first, "SELECT count(*) FROM mailqueue.email_queue") == 1


async def test_a_rule_that_fails_is_an_outcome_and_spares_the_others(conn: Conn) -> None:
    project = await events.project_with_template(conn)
    await rule(conn, project, "a", template="no-such-template")
    await rule(conn, project, "b", recipient="$.nothing")
    await rule(conn, project, "c", condition="strict $.nothing")
    await rule(conn, project, "d", condition="$.total.double() > 5")
    await rule(conn, project, "e", variables={})
    await rule(conn, project, "f", recipient="$.orderId")

    done = await consume(conn)

    assert done["status"] == "failed"
    assert {a["rule"]: a["result"] for a in done["actions"]} == {
        "a": "failed",
        "b": "failed",
        "c": "failed",
        "d": "mail",
        "e": "failed",
        "f": "failed",
    }
    reasons = {a["rule"]: a["reason"] for a in done["actions"]}
    assert reasons["a"] == 'template: there is no template "no-such-template"'
    assert reasons["b"] == 'recipient: "$.nothing" selects nothing, a string is needed'
    assert reasons["e"] == 'variables: "name" is missing'
    assert reasons["f"].startswith("recipient")
    assert await make.scalar(conn, "SELECT delivered FROM mailqueue.inbox_state") is None


async def test_an_event_without_a_rule_is_ignored_and_kept(conn: Conn) -> None:
    done = await consume(conn, type_="SomethingElse")

    assert (done["status"], done["actions"]) == ("ignored", [])
    assert await make.scalar(conn, "SELECT payload FROM mailqueue.inbox_state") == events.ORDER


async def test_an_expired_message_is_not_handled(conn: Conn) -> None:
    await rule(conn, await events.project_with_template(conn))

    done = await consume(conn, headers={"ExpirationTime": "2020-01-01T00:00:00Z"})
    later = await consume(conn, headers={"ExpirationTime": "2090-01-01T00:00:00Z"})
    wrong = await consume(conn, headers={"ExpirationTime": "tomorrow"})

    assert (done["status"], done["email_ids"]) == ("expired", [])
    assert later["status"] == "handled"
    assert wrong["reason"].startswith("headers: the expiration time")


async def test_a_disabled_rule_does_nothing(conn: Conn) -> None:
    await rule(conn, await events.project_with_template(conn), is_enabled=False)

    assert (await consume(conn))["status"] == "ignored"


async def test_an_event_cancels_what_another_scheduled_under_its_key(conn: Conn) -> None:
    project = await events.project_with_template(conn)
    await rule(conn, project, "later", delay_seconds=86_400, key="$.orderId")
    await rule(
        conn, project, "cancelled", event_type="OrderCancelled", action="cancel", key="$.orderId"
    )
    await rule(conn, project, "sorry", event_type="OrderCancelled", key="$.orderId")
    mine = await consume(conn)
    others = await consume(conn, events.ORDER | {"orderId": "82"})

    done = await consume(conn, type_="OrderCancelled")

    assert done["cancelled_ids"] == mine["email_ids"]
    assert len(done["email_ids"]) == 1
    assert await make.status_of(conn, UUID(mine["email_ids"][0])) == "cancelled"
    assert await make.status_of(conn, UUID(others["email_ids"][0])) == "pending"
    assert await make.status_of(conn, UUID(done["email_ids"][0])) == "pending"
    none_left = await consume(conn, type_="OrderCancelled")
    assert none_left["cancelled_ids"] == done["email_ids"]


async def test_the_ids_of_an_event_stand_on_its_mail(conn: Conn) -> None:
    await rule(conn, await events.project_with_template(conn))
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    message, conversation = uuid4(), str(uuid4())

    await consume(
        conn,
        message=message,
        headers={"ConversationId": conversation, "correlation-id": "o-81", "traceparent": trace},
    )

    data = await make.scalar(conn, "SELECT custom_data FROM mailqueue.email_queue")
    assert {name: value for name, value in data.items() if name != "variables"} == {
        "event_rule": "placed",
        "event_type": "OrderPlaced",
        "message_id": str(message),
        "conversation_id": conversation,
        "correlation_id": "o-81",
        "traceparent": trace,
    }


async def test_a_forged_trace_is_left_out(conn: Conn) -> None:
    await consume(conn, headers={"traceparent": "00-zz", "CorrelationId": "a b\n"})

    assert await make.rows(
        conn, "SELECT traceparent, correlation_id FROM mailqueue.inbox_state"
    ) == [(None, None)]


async def test_a_full_project_refuses_an_event_and_answers_a_repeated_one(conn: Conn) -> None:
    project = await events.project_with_template(conn)
    await rule(conn, project)
    message = uuid4()
    first = await consume(conn, message=message)
    await conn.execute("UPDATE mailqueue.projects SET max_events = 1")

    with pytest.raises(errors.DatabaseError) as info:
        async with conn.transaction():
            await consume(conn)
    again = await consume(conn, message=message)

    assert info.value.sqlstate == "MQ002"
    assert info.value.diag.message_primary == (
        "project default is full: it has 1 events and may have 1"
    )
    assert again["email_ids"] == first["email_ids"]
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.inbox_state") == 1


async def test_a_project_full_of_mail_refuses_the_event_whole(conn: Conn) -> None:
    """The mail would be lost if the event counted as handled."""
    await rule(conn, await events.project_with_template(conn))
    await conn.execute("UPDATE mailqueue.projects SET max_queued_emails = 0")

    with pytest.raises(errors.DatabaseError) as info:
        async with conn.transaction():
            await consume(conn)

    assert info.value.sqlstate == "MQ002"
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.inbox_state") == 0


async def test_deleted_events_no_longer_count(conn: Conn) -> None:
    query = "SELECT used FROM mailqueue.bounds_of_projects() WHERE bound = 'max_events'"
    for _ in range(3):
        await consume(conn)
    counted = await make.scalar(conn, query)
    await conn.execute("DELETE FROM mailqueue.inbox_state")

    assert (counted, await make.scalar(conn, query)) == (3, 0)


async def test_an_unknown_project_is_an_error(conn: Conn) -> None:
    with pytest.raises(errors.InvalidParameterValue):
        await consume(conn, project="nobody")
