"""Consumers are shown, reported and replayed; one event that fails stops no others."""

from datetime import UTC, datetime, timedelta

import pytest

from mailqueue.core.consumers import CONSUMERS
from mailqueue.core.errors import InvalidField
from mailqueue.core.retained import RETAINED
from mailqueue.db.fetch import Conn
from mailqueue.maintenance.store.tasks import sweep_retained
from mailqueue.stream import consumers
from tests import make
from tests.stream.reading import note_events, read_stream, seen, stored
from tests.webhooks.delivering import told, webhook

pytestmark = pytest.mark.anyio
URL = "https://app.example.com/hooks"
PAST = datetime(2020, 1, 1, tzinfo=UTC)
FIRST = "SELECT (SELECT min(sequence_number) FROM mailqueue.event_stream)"
READ = "SELECT mailqueue.read_stream()"
HOLD = "UPDATE mailqueue.consumers SET run_at = now()"
LATE = "UPDATE mailqueue.event_stream SET created_at = created_at - interval '20 s'"


async def finding(conn: Conn) -> tuple[str, str, str | None]:
    query = "SELECT state, found, fix FROM mailqueue.health_of_consumers()"
    [row] = await make.rows(conn, query)
    return row[0], row[1], row[2]


async def test_nothing_is_written_while_no_consumer_wants_it(conn: Conn) -> None:
    await told(conn, 3, is_read=False)
    await make.sender_account(conn)
    await make.queued_email(conn)
    await webhook(conn, URL, event_types=["email.opened"])
    await told(conn, 3, kind="delivered", is_read=False)

    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.event_stream") == 0


async def test_a_consumer_that_is_behind_is_shown_with_the_command_to_type(conn: Conn) -> None:
    await webhook(conn, URL)
    await told(conn, 3, is_read=False)
    assert (await finding(conn))[0] == "ok"
    await conn.execute(LATE)

    state, found, fix = await finding(conn)
    listed = {one.name: one.waiting for one in await consumers.list_all(conn)}

    assert state == "warning"
    assert "webhooks has not handled 3 events" in found
    assert "no worker reads events" in found
    assert fix == "run mailqueue worker webhooks publishing, or mailqueue up"
    assert listed == {one.name: 3 for one in CONSUMERS}
    await read_stream(conn)
    assert (await finding(conn))[0] == "ok"
    assert {one.waiting for one in await consumers.list_all(conn)} == {0}


async def test_events_are_handled_again_after_a_dry_run_and_make_nothing_twice(conn: Conn) -> None:
    await webhook(conn, URL)
    await told(conn, 3)
    count = "SELECT count(*) FROM mailqueue.webhook_deliveries"
    await conn.execute("DELETE FROM mailqueue.webhook_deliveries")
    await conn.execute(
        "DELETE FROM mailqueue.webhook_events WHERE id IN"
        " (SELECT id FROM mailqueue.webhook_events LIMIT 2)"
    )

    dry = await consumers.replay(conn, "webhooks", PAST, is_dry=True, by="tests")
    await read_stream(conn)
    assert dry.events == 3
    assert await make.scalar(conn, count) == 0
    done = await consumers.replay(conn, "webhooks", PAST, is_dry=False, by="tests")
    await read_stream(conn)
    assert done.events == 3

    assert await make.scalar(conn, count) == 2, "one was there"
    later = datetime.now(UTC) + timedelta(hours=1)
    assert (await consumers.replay(conn, "webhooks", later, is_dry=False, by="tests")).events == 0
    with pytest.raises(InvalidField, match="there is no consumer"):
        await consumers.replay(conn, "others", PAST, is_dry=True, by="tests")


async def fail_for(conn: Conn, condition: str, error: str) -> None:
    """Have each consumer raise an error for the events that meet a condition."""
    await note_events(conn)
    await conn.execute(
        "CREATE FUNCTION public.refuse_event() RETURNS trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN RAISE '%', NEW.name || ' cannot take it' USING errcode = '{error}'; END $$"
    )
    await conn.execute(
        "CREATE TRIGGER refuse BEFORE INSERT ON public.seen FOR EACH ROW"
        f" WHEN ({condition}) EXECUTE FUNCTION public.refuse_event()"
    )


async def test_an_event_that_fails_is_left_out_with_its_reason_and_the_others_go_on(
    conn: Conn,
) -> None:
    await webhook(conn, URL)
    await told(conn, 4, is_read=False)
    first = await make.scalar(conn, FIRST)
    await fail_for(conn, f"NEW.event = {first + 1}", "23514")

    await conn.execute(READ)

    assert [number - first for number in await seen(conn, "webhooks")] == [0, 2, 3]
    state, found, fix = await finding(conn)
    assert state == "warning"
    assert "webhooks left out 1 events" in found
    assert "webhooks cannot take it" in found
    assert fix is not None
    assert "mailqueue consumers replay webhooks" in fix


async def test_an_event_that_fails_stops_a_consumer_with_an_order_until_it_succeeds(
    conn: Conn,
) -> None:
    await webhook(conn, URL)
    await told(conn, 4, is_read=False)
    await fail_for(conn, "NEW.name = 'outboxes'", "23514")
    query = "SELECT failures, last_error, run_at > now() FROM mailqueue.consumers"
    query += " WHERE name = 'outboxes'"

    await conn.execute(READ)
    await conn.execute(READ)

    assert await make.rows(conn, query) == [(1, "outboxes cannot take it", True)]
    assert len(await seen(conn, "webhooks")) == 4, "others go on"
    await conn.execute("DROP TRIGGER refuse ON public.seen")
    await conn.execute("UPDATE mailqueue.consumers SET run_at = now()")
    await conn.execute(READ)
    assert await seen(conn, "outboxes") == await stored(conn)
    assert await make.rows(conn, query) == [(0, None, False)]


async def test_an_event_is_not_left_out_for_a_failure_that_is_of_the_server(conn: Conn) -> None:
    await webhook(conn, URL)
    await told(conn, 4, is_read=False)
    await fail_for(conn, "true", "53100")  # disk full

    await conn.execute(READ)

    query = "SELECT left_out, failures, position < %s FROM mailqueue.consumers"
    first = await make.scalar(conn, FIRST)
    assert await make.rows(conn, query, first) == [(0, 1, True)] * len(CONSUMERS)


async def test_types_and_test_mail_that_a_consumer_does_not_take_are_not_handled_and_are_counted(
    conn: Conn,
) -> None:
    await note_events(conn)
    await conn.execute(
        "UPDATE mailqueue.consumers SET types = '{email.opened}', takes_test = false"
        " WHERE name = 'webhooks'"
    )
    await webhook(conn, URL)
    for kind in ("opened", "clicked", "opened"):
        await told(conn, kind=kind, is_read=False)
    await conn.execute(
        "UPDATE mailqueue.event_stream SET is_test = true"
        " WHERE sequence_number = (SELECT max(sequence_number) FROM mailqueue.event_stream)"
    )

    await read_stream(conn)

    assert await seen(conn, "webhooks") == (await stored(conn))[:1]
    assert await seen(conn, "outboxes") == await stored(conn)
    skipped = {one.name: one.skipped for one in await consumers.list_all(conn)}
    assert skipped == {"webhooks": 2, "outboxes": 0}, "an operator sees how many"


async def test_a_webhook_gets_no_event_from_before_it_was_created(conn: Conn) -> None:
    await webhook(conn, URL)
    await told(conn, is_read=False)
    await conn.execute(LATE)
    late = await webhook(conn, URL)
    await conn.execute(
        "UPDATE mailqueue.webhooks SET created_at = created_at - interval '1 min' WHERE id <> %s",
        (late,),
    )

    await read_stream(conn)

    query = "SELECT count(*) FROM mailqueue.webhook_deliveries WHERE webhook_id = %s"
    assert await make.scalar(conn, query, late) == 0
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.webhook_deliveries") == 1


async def test_what_is_in_the_payload_is_of_the_event_whenever_it_is_read(conn: Conn) -> None:
    """Sender and Message-ID of an attempt are those of that attempt, also after a later one."""
    await webhook(conn, URL)
    account = await make.sender_account(conn, name="first")
    email_id = await make.queued_email(conn, tags=["a"])
    await conn.execute(
        "INSERT INTO mailqueue.send_logs (project_id, email_id, sender_account_id, status,"
        " recipient_email, message_id, reply, sent_at, attempt)"
        " SELECT q.project_id, q.id, %s, 'deferred', q.recipient_email, '<1@example.com>', 'busy',"
        " now(), 1 FROM mailqueue.email_queue AS q WHERE q.id = %s",
        (account, email_id),
    )
    await conn.execute(
        "UPDATE mailqueue.email_queue SET assigned_to = %s WHERE id = %s",
        (await make.sender_account(conn, name="second"), email_id),
    )

    await read_stream(conn)

    found = await make.rows(
        conn,
        "SELECT type, payload -> 'data' ->> 'sender', payload -> 'data' ->> 'message_id',"
        " payload -> 'data' -> 'tags' ->> 0 FROM mailqueue.webhook_events ORDER BY created_at, id",
    )
    assert found == [
        ("email.queued", None, None, "a"),
        ("email.deferred", "first", "<1@example.com>", "a"),
    ]


async def test_events_wait_for_a_consumer_that_is_down_and_leave_after_their_days(
    conn: Conn,
) -> None:
    [one] = [each for each in RETAINED if each.kind == "event_stream"]
    await webhook(conn, URL)
    await told(conn, 2, is_read=False)
    await conn.execute("UPDATE mailqueue.event_stream SET created_at = now() - interval '30 d'")
    assert await sweep_retained(conn, one=one) == 0
    await conn.execute(f"{HOLD} + interval '1 h' WHERE name = 'outboxes'")
    await conn.execute(READ)
    assert await sweep_retained(conn, one=one) == 0, "outboxes has not handled them"
    await conn.execute(HOLD)
    await conn.execute(READ)
    assert await sweep_retained(conn, one=one) == 2
