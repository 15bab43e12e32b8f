"""Timed events of callers: put once, changed by version, cancelled, and refused by field."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from mailqueue.core.errors import Conflict, InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.timed_events import events as verbs
from mailqueue.timed_events.store import STALE
from tests import make
from tests.timed_events import events

pytestmark = pytest.mark.anyio
SOON = datetime.now(UTC) + timedelta(days=3)


async def put(conn: Conn, **fields: Any) -> UUID:
    """Put an event with the SQL function; return its id."""
    given = {"kind": "renewal", "at": SOON, "template": "welcome", "recipient": "ann@example.com"}
    given |= fields
    given = {name: value for name, value in given.items() if value is not None}
    named = ", ".join(f"{name} => %s" for name in given)
    query = f"SELECT mailqueue.put_timed_event({named})"
    found: UUID = await make.scalar(conn, query, *given.values())
    return found


async def test_an_event_of_any_kind_becomes_mail_with_its_payload(conn: Conn) -> None:
    await events.template(conn)
    event_id = await put(conn, payload=psycopg.types.json.Jsonb({"plan": "Team"}))
    await events.make_due(conn)

    await events.fire(conn)

    (row,) = await make.rows(
        conn,
        "SELECT e.recipient_email, e.custom_data -> 'variables' ->> 'plan',"
        " e.custom_data -> 'variables' -> 'event' ->> 'kind',"
        " s.status FROM mailqueue.timed_event_status AS s"
        " JOIN mailqueue.email_queue AS e ON e.id = s.email_id WHERE s.id = %s",
        event_id,
    )
    assert row == ("ann@example.com", "Team", "renewal", "COMPLETED")


async def test_an_event_with_a_key_that_is_in_use_is_the_first_one(conn: Conn) -> None:
    await events.template(conn)
    first = await put(conn, idempotency_key="one")

    assert await put(conn, idempotency_key="one", kind="other") == first
    assert await put(conn) != first


async def test_events_of_a_contact_are_one_a_kind_and_local_date(conn: Conn) -> None:
    await events.template(conn)
    ann = await events.contact(conn, time_zone="Asia/Tokyo")
    day = SOON.replace(tzinfo=None, hour=9, minute=0)
    given = {"at": None, "recipient": None, "contact_id": ann}
    first = await put(conn, **given, local_at=day)

    assert await put(conn, **given, local_at=day + timedelta(hours=1)) == first
    assert await put(conn, **given, local_at=day + timedelta(days=1)) != first
    found = await make.scalar(
        conn, "SELECT time_zone FROM mailqueue.timed_events WHERE id = %s", first
    )
    assert found == "Asia/Tokyo"

    await events.change(conn, ann, time_zone="Pacific/Honolulu")

    moved = await make.rows(
        conn,
        "SELECT DISTINCT time_zone, due_at = mailqueue.local_to_utc(local_at, 'Pacific/Honolulu')"
        " FROM mailqueue.timed_events",
    )
    assert moved == [("Pacific/Honolulu", True)]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"kind": "no spaces"}, "kind"),
        ({"at": None}, "at"),
        ({"at": datetime(2020, 1, 1, tzinfo=UTC)}, "at"),
        ({"at": datetime(2999, 1, 1, tzinfo=UTC)}, "at"),
        ({"at": None, "local_at": datetime(2020, 1, 1)}, "local_at"),  # noqa: DTZ001
        ({"time_zone": "Europe/Berlin"}, "time_zone"),
        ({"at": None, "local_at": SOON.replace(tzinfo=None), "time_zone": "Mars/A"}, "time_zone"),
        ({"contact_id": uuid4()}, "contact_id"),
        ({"template": "none"}, "template"),
        ({"template": None}, "template"),
        ({"webhook_id": uuid4()}, "webhook_id"),
        ({"template": None, "webhook_id": uuid4(), "recipient": None}, "webhook_id"),
        ({"recipient": None}, "recipient"),
        ({"recipient": "nobody"}, "recipient"),
        ({"idempotency_key": "birthday:x"}, "idempotency_key"),
        ({"idempotency_key": "x" * 256}, "idempotency_key"),
        ({"payload": psycopg.types.json.Jsonb([])}, "payload"),
        ({"payload": psycopg.types.json.Jsonb({"event": 1})}, "payload"),
        ({"payload": psycopg.types.json.Jsonb({"a": "x" * 70_000})}, "payload"),
    ],
)
async def test_what_cannot_be_is_refused_by_field(
    conn: Conn, fields: dict[str, Any], field: str
) -> None:
    await events.template(conn)

    with pytest.raises(psycopg.errors.InvalidParameterValue) as info:
        await put(conn, **fields)

    assert info.value.diag.column_name == field


async def test_a_stale_writer_gets_a_conflict(conn: Conn) -> None:
    await events.template(conn)
    project_id = await make.project_named(conn)
    event_id = await put(conn)
    moved = (SOON + timedelta(days=1)).isoformat()
    changed = await verbs.change(conn, project_id, event_id, version=1, given={"at": moved})
    assert changed.version == 2

    with pytest.raises(Conflict, match="has version 2, not 1"):
        await verbs.change(conn, project_id, event_id, version=1, given={"at": moved})
    with pytest.raises(Conflict, match="has version 2, not 1"):
        await verbs.cancel(conn, project_id, event_id, version=1, by="tests")
    async with conn.transaction():
        with pytest.raises(psycopg.DatabaseError) as info:
            async with conn.transaction():
                await conn.execute(
                    "SELECT mailqueue.change_timed_event(%s, %s, 1, '{\"payload\": {}}')",
                    (project_id, event_id),
                )
    assert info.value.sqlstate == STALE

    await events.make_due(conn)
    await events.fire(conn)
    with pytest.raises(Conflict):
        await verbs.cancel(conn, project_id, event_id, version=None, by="tests")
    with pytest.raises(NotFound):
        await verbs.cancel(conn, project_id, uuid4(), version=None, by="tests")


async def test_of_two_writers_with_one_version_one_wins(database: DatabaseSettings) -> None:
    async with connect(database) as first, connect(database) as second:
        await events.template(first)
        project_id = await make.project_named(first)
        event_id = await put(first)

        async def write(conn: Conn, days: int) -> bool:
            at = (SOON + timedelta(days=days)).isoformat()
            try:
                await verbs.change(conn, project_id, event_id, version=1, given={"at": at})
            except Conflict:
                return False
            return True

        won = await asyncio.gather(write(first, 1), write(second, 2))

        assert sorted(won) == [False, True]


async def test_a_birthday_is_changed_by_its_contact_alone(conn: Conn) -> None:
    await events.template(conn)
    await events.birthdays(conn)
    await events.contact(conn, date_of_birth="1988-02-29")
    event_id = await make.scalar(conn, "SELECT id FROM mailqueue.timed_events")

    with pytest.raises(InvalidField, match="change that"):
        await verbs.change(
            conn, await make.project_named(conn), event_id, version=1, given={"payload": {}}
        )


async def test_a_refusal_is_retried_three_times_and_its_reason_is_kept(conn: Conn) -> None:
    await events.template(conn)
    event_id = await put(conn)
    other = await put(conn)
    await conn.execute(
        "UPDATE mailqueue.timed_events SET template = 'gone' WHERE id = %s", (event_id,)
    )
    seen = []
    for _ in range(5):
        await events.make_due(conn)
        await events.fire(conn)
        query = "SELECT status, retry_count FROM mailqueue.timed_event_status WHERE id = %s"
        seen += await make.rows(conn, query, event_id)

    assert seen == [
        ("PENDING", 1),
        ("PENDING", 2),
        ("PENDING", 3),
        ("FAILED", 3),
        ("FAILED", 3),
    ]
    query = "SELECT status, failure_reason FROM mailqueue.timed_event_status WHERE id = %s"
    ((_, reason),) = await make.rows(conn, query, event_id)
    assert reason.startswith("template: ")
    assert await make.rows(conn, query, other) == [("COMPLETED", None)], "its neighbour is sent"


async def test_as_many_fire_as_the_project_has_room_for_and_the_others_wait(conn: Conn) -> None:
    await events.template(conn)
    for _ in range(5):
        await put(conn)
    await conn.execute("UPDATE mailqueue.projects SET max_queued_emails = 3")
    await events.make_due(conn)

    await events.settle(conn, await events.claim(conn))

    query = (
        "SELECT status, retry_count, count(*)::integer FROM mailqueue.timed_event_status"
        " GROUP BY 1, 2 ORDER BY 1"
    )
    assert await make.rows(conn, query) == [("COMPLETED", 0, 3), ("PENDING", 0, 2)]


async def test_new_zone_rules_move_what_lies_ahead(conn: Conn) -> None:
    await events.template(conn)
    local = SOON.replace(tzinfo=None, microsecond=0)
    event_id = await put(conn, at=None, local_at=local, time_zone="Europe/Berlin")
    await conn.execute(
        "UPDATE mailqueue.timed_events SET zone_release = '1999a',"
        " due_at = due_at + interval '1 h', run_at = run_at + interval '1 h'"
    )

    assert await make.scalar(conn, "SELECT mailqueue.recompute_timed_events(10)") == 1
    assert await make.scalar(conn, "SELECT mailqueue.recompute_timed_events(10)") == 0

    found = await make.rows(
        conn,
        "SELECT due_at = mailqueue.local_to_utc(local_at, time_zone), run_at = due_at,"
        " zone_release = mailqueue.time_zone_release() FROM mailqueue.timed_events WHERE id = %s",
        event_id,
    )
    assert found == [(True, True, True)]
