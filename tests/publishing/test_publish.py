"""A message is written in the transaction of its service, checked, and shown as documented."""

from uuid import uuid4

import pytest
from psycopg import errors

from mailqueue.db.fetch import Conn
from tests import make
from tests.publishing import outboxes
from tests.webhooks.delivering import webhook

pytestmark = pytest.mark.anyio
OF_MESSAGES = [
    "sequence_number",
    "message_id",
    "message_type",
    "body",
    "content_type",
    "enqueue_time",
    "sent_time",
    "conversation_id",
    "correlation_id",
    "initiator_id",
    "request_id",
    "source_address",
    "destination_address",
    "response_address",
    "fault_address",
    "expiration_time",
    "headers",
    "properties",
    "inbox_message_id",
    "inbox_consumer_id",
    "outbox_id",
]
OF_STATES = ["outbox_id", "lock_id", "row_version", "created", "delivered", "last_sequence_number"]


@pytest.mark.parametrize(
    ("table", "documented"), [("outbox_message", OF_MESSAGES), ("outbox_state", OF_STATES)]
)
async def test_the_tables_begin_with_the_documented_columns(
    conn: Conn, table: str, documented: list[str]
) -> None:
    found = await make.rows(
        conn,
        "SELECT attname::text FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0"
        " ORDER BY attnum LIMIT %s",
        f"mailqueue.{table}",
        len(documented),
    )

    assert [row[0] for row in found] == documented


async def with_outbox(conn: Conn, name: str = "default") -> None:
    await outboxes.add(conn, name, await webhook(conn, "http://127.0.0.1:8081/"))


async def test_a_second_message_with_the_same_id_adds_nothing(conn: Conn) -> None:
    await with_outbox(conn)
    given = uuid4()

    assert await outboxes.publish(conn, 1, message_id=given) == given
    assert await outboxes.publish(conn, 2, message_id=given) == given

    query = "SELECT body FROM mailqueue.outbox_message"
    assert await make.rows(conn, query) == [('{"number": 1}',)]


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        ("'A', '{}', outbox => 'none'", 'outbox: project default has no outbox "none"'),
        ("'A', '{}', outbox => NULL", "outbox: project default has no outbox null"),
        ("'', '{}'", "message_type: is needed"),
        ("NULL, '{}'", "message_type: is needed"),
        ("repeat('A', 257), '{}'", "message_type: "),
        ("'A', NULL", "body: is needed"),
        ("'A', '{'", "body: not JSON that can be stored"),
        ("'A', '1e999'", "body: a number must lie within"),
        ("'A', repeat('[', 200) || repeat(']', 200)", "body: at most 100 nested levels"),
        ("'A', to_json(repeat('a', 262143))::text", "body: at most 256 KiB"),
        ("'A', 'x', content_type => 'text'", "content_type: a media type"),
        ("'A', '{}', headers => '[]'", "headers: an object is needed, got array"),
        ("'A', '{}', properties => '1'", "properties: an object is needed, got number"),
        ("'A', '{}', expiration_time => 'infinity'", "expiration_time: must be finite"),
        ("'A', '{}', source_address => repeat('a', 257)", "source_address: "),
        ("'A', '{}', project => 'none'", "project: "),
    ],
)
async def test_an_invalid_message_is_refused_with_the_argument(
    conn: Conn, arguments: str, refusal: str
) -> None:
    await with_outbox(conn)

    with pytest.raises(errors.InvalidParameterValue) as refused:
        async with conn.transaction():
            await make.scalar(conn, f"SELECT mailqueue.publish({arguments})")

    assert str(refused.value).startswith(refusal)


async def test_a_message_counts_against_the_bound_of_its_project(conn: Conn) -> None:
    await with_outbox(conn)
    await conn.execute("UPDATE mailqueue.projects SET max_events = 2 WHERE name = 'default'")
    await outboxes.publish(conn, 1)
    await outboxes.publish(conn, 2)

    with pytest.raises(errors.Error) as refused:
        async with conn.transaction():
            await outboxes.publish(conn, 3)

    assert refused.value.sqlstate == "MQ002"


async def test_an_outbox_is_added_changed_and_removed_with_a_row_in_the_audit_log(
    conn: Conn,
) -> None:
    one = await webhook(conn, "http://127.0.0.1:8081/")
    two = await webhook(conn, "http://127.0.0.1:8082/")
    assert await outboxes.add(conn, "orders", one) is not None
    assert await outboxes.add(conn, "orders", one) is None, "there is one of that name"
    project = await make.project_named(conn)

    assert await make.scalar(
        conn,
        "SELECT mailqueue.change_outbox(%s, 'orders', 'webhook', %s, 'tests')",
        project,
        str(two),
    )
    await outboxes.publish(conn, outbox="orders")
    removed = "SELECT mailqueue.remove_outbox(%s, 'orders', 'tests')"
    assert await make.scalar(conn, removed, project) is True
    assert await make.scalar(conn, removed, project) is False

    assert await outboxes.numbers(conn) == []
    query = "SELECT action FROM mailqueue.audit_events WHERE action LIKE 'outbox.%' ORDER BY id"
    actions = [row[0] for row in await make.rows(conn, query.replace("%", "%%"), *())]
    assert actions == ["outbox.added", "outbox.changed", "outbox.removed"]


async def test_an_outbox_publishes_to_a_webhook_of_its_own_project_only(conn: Conn) -> None:
    other = await webhook(
        conn, "http://127.0.0.1:8081/", project_id=await make.project(conn, "other")
    )

    with pytest.raises(errors.InvalidParameterValue, match=r"^target: the project has no webhook"):
        async with conn.transaction():
            await outboxes.add(conn, "orders", other)


async def test_doctor_names_an_outbox_whose_first_message_waits(conn: Conn) -> None:
    await with_outbox(conn, "orders")
    query = "SELECT state, found FROM mailqueue.health_of_publishing()"
    assert await make.rows(conn, query) == [("ok", "messages of outboxes are published")]
    await outboxes.publish(conn, outbox="orders")
    await conn.execute(
        "UPDATE mailqueue.outbox_message SET enqueue_time = now() - interval '2 min'"
    )

    [(state, found)] = await make.rows(conn, query)

    assert state == "warning"
    assert "outbox orders of default" in found
    assert "no worker publishes messages" in found
