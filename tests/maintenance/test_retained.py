"""Rows are deleted by the registry unless a condition keeps them; late ones are reported."""

import pytest

from mailqueue.core.queues.registry import QUEUES
from mailqueue.core.retained import RETAINED
from mailqueue.core.retention import Removal, Retained
from mailqueue.db.fetch import Conn
from mailqueue.maintenance.store.tasks import sweep_retained
from mailqueue.operations.store.health import kinds_past_retention
from tests import make

pytestmark = pytest.mark.anyio

BY_KIND = {one.kind: one for one in RETAINED}
# What a statement for all kinds cannot do: a walk by pages, one by ids with further tables, and one
# that computes a code under a key.
SPECIAL = {"idempotency_keys", "webhook_deliveries", "audit_events"}
KEPT_QUEUES = {
    "erasures": "a row proves that a person was erased, and holds no address",
    "maintenance_tasks": "a task has one row, which is due again",
    "custom_smtp_servers": "a row is deleted with its mail",
    "mailboxes": "an inbox has one row, which is due again",
    "outbox_state": "an outbox has one row, which is due again",
    "stats_state": "counting has one row, which is due again",
    "domain_rechecks": "a domain has one row, which is due again",
    "canaries": "a sender account has one row, which is due again",
}
"""Queues whose finished rows no retention deletes, and why."""


def test_finished_rows_of_every_queue_are_deleted_or_stay_for_a_reason() -> None:
    retained = {one.table for one in RETAINED}
    assert {spec.table for spec in QUEUES} - retained == KEPT_QUEUES.keys()


def test_only_three_kinds_have_a_walk_of_their_own() -> None:
    assert {one.kind for one in RETAINED if one.leaves is Removal.SPECIAL} == SPECIAL


@pytest.mark.parametrize(
    "one", [one for one in RETAINED if one.leaves is Removal.SWEPT], ids=lambda one: one.kind
)
async def test_nothing_is_deleted_where_nothing_is_old(conn: Conn, one: Retained) -> None:
    assert await sweep_retained(conn, one) == 0


async def test_a_process_leaves_by_when_it_stopped_or_was_lost_unless_it_holds_mail(
    conn: Conn,
) -> None:
    stopped, lost, marked, late, running = [await make.worker(conn) for _ in range(5)]
    await conn.execute(
        "UPDATE mailqueue.workers SET"
        " stopped_at = CASE WHEN id = %s THEN now() - interval '40 d'"
        " WHEN id = %s THEN now() - interval '20 d' END,"
        " lost_at = CASE WHEN id IN (%s, %s) THEN now() - interval '40 d' END",
        (stopped, late, lost, marked),
    )
    await conn.execute(
        "INSERT INTO mailqueue.send_intents (worker_id) VALUES (%s) ON CONFLICT DO NOTHING",
        (marked,),
    )
    await conn.execute(
        "DELETE FROM mailqueue.send_intents WHERE worker_id IN (%s, %s)", (stopped, lost)
    )

    gone = await sweep_retained(conn, BY_KIND["workers"])

    left = await make.rows(conn, "SELECT id FROM mailqueue.workers ORDER BY id")
    assert (gone, [row[0] for row in left]) == (2, [marked, late, running])


async def test_counts_of_days_that_a_warm_up_counts_stay(conn: Conn) -> None:
    await make.sender_account(conn, name="warm", warm_up=[10, 20], daily_limit=500)
    await make.sender_account(conn, name="cold", daily_limit=500)
    await conn.execute("UPDATE mailqueue.limits SET warm_up_from = current_date - 900")
    await conn.execute(
        "INSERT INTO mailqueue.limit_days SELECT m.id, current_date - n, 5, 0, 0, 0"
        " FROM mailqueue.limits AS m, unnest('{950,850,10}'::int[]) AS n"
        " WHERE m.sender_account_id IS NOT NULL"
    )

    await sweep_retained(conn, BY_KIND["limit_days"])

    left = await make.rows(
        conn,
        "SELECT a.name, current_date - d.day FROM mailqueue.limit_days AS d"
        " JOIN mailqueue.limits AS m ON m.id = d.limit_id"
        " JOIN mailqueue.sender_accounts AS a ON a.id = m.sender_account_id ORDER BY 1, 2",
    )
    assert left == [("cold", 10), ("warm", 10), ("warm", 850)]


async def test_ids_of_the_outbox_stay_while_their_mail_is_queued(conn: Conn) -> None:
    insert = (
        "INSERT INTO mailqueue.outboxes (to_email, subject, body)"
        " VALUES ('ann@example.com', 's', 'b') RETURNING id"
    )
    queued, old, new = [await make.scalar(conn, insert) for _ in range(3)]
    await make.by_hand(conn)
    await conn.execute(b"DELETE FROM mailqueue.email_queue WHERE id <> %s", [queued])
    await conn.execute(
        b"UPDATE mailqueue.outbox_rows SET accepted_on = current_date - 2600 WHERE id <> %s", [new]
    )

    gone = await sweep_retained(conn, BY_KIND["outbox_rows"])

    left = await make.rows(conn, "SELECT id FROM mailqueue.outbox_rows ORDER BY sequence_number")
    assert (gone, left) == (1, [(queued,), (new,)])
    assert old not in (queued, new)


async def test_records_far_past_their_retention_are_named(conn: Conn) -> None:
    project = await make.project_named(conn)
    await conn.execute(
        "INSERT INTO mailqueue.event_keys (key, recorded_on) VALUES"
        " (gen_random_uuid(), current_date - 450), (gen_random_uuid(), current_date - 403)"
    )
    await conn.execute(
        "INSERT INTO mailqueue.idempotency_keys SELECT %s, k, 'x', gen_random_uuid(),"
        " now() - interval '405 d' FROM unnest('{a,b}'::text[]) AS k",
        (project,),
    )

    late = await kinds_past_retention(conn, days=7, pages=1000)
    soon = await kinds_past_retention(conn, days=3, pages=1000)

    assert [one.kind for one in late] == ["event_keys"]
    assert [one.kind for one in soon] == ["event_keys", "idempotency_keys"]


async def test_of_a_large_table_some_pages_are_read(conn: Conn) -> None:
    await conn.execute(
        "INSERT INTO mailqueue.event_keys SELECT gen_random_uuid(), current_date - 450"
        " FROM generate_series(1, 20000)"
    )

    assert [one.kind for one in await kinds_past_retention(conn, days=7, pages=20)] == [
        "event_keys"
    ]
