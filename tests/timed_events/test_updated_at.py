"""`updated_at` of contacts and timed events moves with each change, and with nothing else."""

from uuid import UUID

import pytest
from psycopg import sql

from mailqueue.db.fetch import Conn
from tests import make
from tests.timed_events import events

pytestmark = pytest.mark.anyio
CHANGES: dict[str, dict[str, str]] = {
    "contacts": {
        "email": "email = 'eve@example.com', email_key = 'eve@example.com'",
        "email_key": "email = 'eve@example.com', email_key = 'eve@example.com'",
        "first_name": "first_name = 'Eve'",
        "last_name": "last_name = 'Ray'",
        "time_zone": "time_zone = 'Asia/Tokyo'",
        "date_of_birth": "date_of_birth = '1991-05-31'",
        "language": "language = 'de'",
        "attributes": """attributes = '{"plan": "pro"}'""",
        "consented_at": "consented_at = now()",
        "consent_source": "consent_source = 'form'",
        "consent_wording": "consent_wording = 'Write to me'",
    },
    "timed_events": {
        "contact_id": "contact_id = NULL",
        "kind": "kind = 'other'",
        "local_at": "local_at = local_at + interval '1 h'",
        "time_zone": "time_zone = 'Asia/Tokyo'",
        "follows_contact": "follows_contact = NOT follows_contact",
        "due_at": "due_at = due_at + interval '1 h'",
        "idempotency_key": "idempotency_key = 'another'",
        "payload": """payload = '{"plan": "Team"}'""",
        "template": "template = 'other'",
        "recipient": "recipient = 'eve@example.com'",
        "webhook_id": "template = NULL, webhook_id = mailqueue.uuidv7()",
        "email_id": "email_id = mailqueue.uuidv7()",
        "delivery_id": "delivery_id = mailqueue.uuidv7()",
        "status": "status = 'assigned', claim_no = 1, lease_until = now()",
        "run_at": "run_at = run_at + interval '1 h'",
        "attempts": "attempts = 1",
        "last_error": "last_error = 'no route'",
        "finished_at": "finished_at = now(), status = 'cancelled'",
    },
}
"""By table and column: what changes it, as much else as its constraints ask for."""
FIXED = {
    "contacts": {"id", "project_id", "is_test", "created_at"},
    "timed_events": {"id", "project_id", "is_test", "is_birthday", "created_by", "created_at"},
}
"""Columns that are never changed."""
OF_WORKERS = {
    "contacts": set[str](),
    "timed_events": {
        *("version", "zone_release", "priority", "max_attempts"),
        *("claim_no", "worker_id", "assigned_at", "lease_until", "crashes"),
    },
}
"""Columns that are no change of an event: they change with it, or by themselves."""


async def _rows(conn: Conn) -> dict[str, UUID]:
    """Add a row of each table; return their ids."""
    await events.template(conn)
    contact = await events.contact(conn, first_name="Ann", time_zone="Europe/Berlin")
    event = await make.scalar(
        conn,
        "SELECT mailqueue.put_timed_event('renewal', local_at => '2040-05-31 09:00',"
        " contact_id => %s, template => 'welcome')",
        contact,
    )
    for table in CHANGES:  # of the past, so that each later time is another
        await conn.execute(
            sql.SQL("ALTER TABLE mailqueue.{} DISABLE TRIGGER USER").format(sql.Identifier(table))
        )
        await conn.execute(
            sql.SQL("UPDATE mailqueue.{} SET updated_at = '2026-01-01 UTC'").format(
                sql.Identifier(table)
            )
        )
        await conn.execute(
            sql.SQL("ALTER TABLE mailqueue.{} ENABLE TRIGGER USER").format(sql.Identifier(table))
        )
    return {"contacts": contact, "timed_events": event}


async def _moves(conn: Conn, table: str, row: UUID, change: str) -> bool:
    """Return whether an UPDATE moves `updated_at`, which the view shows too; take it back."""
    async with conn.transaction(force_rollback=True):
        await conn.execute(f"UPDATE mailqueue.{table} SET {change} WHERE id = %s", (row,))
        query = f"SELECT updated_at, updated_at > '2026-01-01 UTC' FROM mailqueue.{table}"
        [(at, is_later)] = await make.rows(conn, f"{query} WHERE id = %s", row)
        if table == "timed_events":
            shown = "SELECT updated_at FROM mailqueue.timed_event_status WHERE id = %s"
            assert await make.scalar(conn, shown, row) == at
    return bool(is_later)


async def test_every_change_of_a_contact_or_an_event_moves_its_time_and_nothing_else_does(
    conn: Conn,
) -> None:
    rows = await _rows(conn)
    for table, row in rows.items():
        columns = {
            name
            for (name,) in await make.rows(
                conn,
                "SELECT column_name::text FROM information_schema.columns"
                " WHERE table_schema = 'mailqueue' AND table_name = %s",
                table,
            )
        }
        changes = CHANGES[table]
        assert columns == {*changes, *FIXED[table], *OF_WORKERS[table], "updated_at"}
        still = [name for name in changes if not await _moves(conn, table, row, changes[name])]
        assert still == [], f"{table}: does not move with these columns"
        same = ", ".join(f"{name} = {name}" for name in sorted(changes))
        assert not await _moves(conn, table, row, same), f"{table}: moves without a change"

    event = rows["timed_events"]
    await conn.execute("UPDATE mailqueue.timed_events SET worker_id = NULL")
    for change in ("lease_until = now()", "zone_release = 'another'", "crashes = 1"):
        assert not await _moves(conn, "timed_events", event, change), change


async def test_each_attempt_to_deliver_an_event_moves_its_time(conn: Conn) -> None:
    """Retries and the reason are those of the delivery, whose row is another."""
    rows = await _rows(conn)
    event, delivery = rows["timed_events"], "0197b8f0-0000-7000-8000-000000000081"
    await conn.execute(
        "UPDATE mailqueue.timed_events SET status = 'delivering', delivery_id = %s,"
        " template = NULL, webhook_id = mailqueue.uuidv7() WHERE id = %s",
        (delivery, event),
    )
    await conn.execute(
        "INSERT INTO mailqueue.webhook_deliveries (id, project_id, webhook_id, event_id, type)"
        " SELECT %s, project_id, webhook_id, id, 'timed_event.due' FROM mailqueue.timed_events",
        (delivery,),
    )
    query = "SELECT retry_count, failure_reason, updated_at FROM mailqueue.timed_event_status"
    seen = [(await make.rows(conn, query))[0]]
    for attempt in (1, 2):
        await conn.execute(
            "UPDATE mailqueue.webhook_deliveries SET status = 'assigned', attempts = %s,"
            " claim_no = 1, assigned_at = clock_timestamp(), lease_until = now()",
            (attempt,),
        )
        seen += await make.rows(conn, query)
        await conn.execute(
            "INSERT INTO mailqueue.webhook_attempts (delivery_id, tried_at, project_id, webhook_id,"
            " attempt, took_ms, request_headers) SELECT id, clock_timestamp(), project_id,"
            " webhook_id, attempts, 1, '{}' FROM mailqueue.webhook_deliveries"
        )
        await conn.execute(
            "UPDATE mailqueue.webhook_deliveries SET status = 'pending', claim_no = NULL,"
            " assigned_at = NULL, lease_until = NULL, last_error = %s",
            (f"status {attempt}",),
        )
        seen += await make.rows(conn, query)

    assert [row[:2] for row in seen] == [
        (0, None),
        (0, None),
        (0, "status 1"),
        (1, "status 1"),
        (1, "status 2"),
    ]
    times = [row[2] for row in seen]
    assert times == sorted(set(times)), "each is later than the one before"
