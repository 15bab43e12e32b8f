"""A key that keeps failing is set aside as a whole, and one row at a time probes it."""

from datetime import datetime, timedelta

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.operations import queues
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.webhooks.model import CallOutcome
from tests import make
from tests.webhooks.delivering import told, webhook
from tests.webhooks.settling import URL, claim, key, settle

pytestmark = pytest.mark.anyio
NOTE = "SELECT FROM mailqueue.note_key('webhooks', 'a', %s, %s, %s, 'answered 500')"
KEY = "SELECT failures, opened_at IS NOT NULL, openings FROM mailqueue.queue_keys WHERE key = 'a'"
PROBE = "SELECT mailqueue.begin_key_probe('webhooks', 'a', '1 min')"
REST_IS_OVER = "UPDATE mailqueue.queue_keys SET blocked_until = now() - interval '1 s'"
SCANS = (
    "SELECT coalesce(seq_scan, 0) + coalesce(idx_scan, 0), n_tup_ins + n_tup_upd + n_tup_del"
    " FROM pg_stat_xact_user_tables WHERE relid = 'mailqueue.queue_keys'::regclass"
)


async def note(
    conn: Conn, *, failures: int = 0, has_success: bool = False, pause: timedelta | None = None
) -> None:
    await conn.execute(NOTE, (has_success, failures, pause))


async def test_five_failures_in_a_row_open_a_circuit_and_those_in_flight_keep_its_rest(
    conn: Conn,
) -> None:
    for _ in range(4):
        await note(conn, failures=1)
    assert await make.rows(conn, KEY) == [(4, False, 0)]

    await note(conn, failures=1)
    until: datetime = await make.scalar(conn, "SELECT blocked_until FROM mailqueue.queue_keys")
    await note(conn, failures=3)

    assert await make.rows(conn, KEY) == [(8, True, 1)]
    assert await make.scalar(conn, "SELECT blocked_until FROM mailqueue.queue_keys") == until


async def test_an_open_circuit_is_probed_by_one_and_a_failed_probe_doubles_its_rest(
    conn: Conn,
) -> None:
    await note(conn, failures=5)
    assert not await make.scalar(conn, PROBE), "it is set aside"
    await conn.execute(REST_IS_OVER)

    assert await make.scalar(conn, PROBE)
    assert not await make.scalar(conn, PROBE), "one at a time"
    await note(conn, failures=1)

    assert await make.rows(conn, KEY) == [(6, True, 2)]
    rest = "SELECT blocked_until - clock_timestamp() FROM mailqueue.queue_keys"
    assert await make.scalar(conn, rest) > timedelta(seconds=55)
    await conn.execute(REST_IS_OVER)
    assert await make.scalar(conn, PROBE)


async def test_a_success_leaves_no_row_and_failures_after_it_count_from_one(conn: Conn) -> None:
    await note(conn, failures=5)
    await note(conn, failures=2, has_success=True)
    assert await make.rows(conn, KEY) == [(2, False, 0)]

    await note(conn, has_success=True)

    assert await make.rows(conn, KEY) == []


async def test_a_pause_that_was_asked_for_blocks_a_key_whose_circuit_is_closed(conn: Conn) -> None:
    await note(conn, pause=timedelta(minutes=10))
    ready = "SELECT mailqueue.is_key_ready(k, now()) FROM mailqueue.queue_keys AS k"

    assert not await make.scalar(conn, ready)
    assert await make.rows(conn, KEY) == [(0, False, 0)]
    [one] = await queues.keys(conn)
    assert one.circuit == "resting"


async def test_no_failure_is_lost_where_settlers_note_one_key_together(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn, connect(database) as other:
        async with conn.transaction():
            await note(conn, failures=2)
            await other.execute("SET lock_timeout = '100ms'")
            with pytest.raises(Exception, match="lock timeout"):  # it waits for the first
                await note(other, failures=1)
        await other.execute("RESET lock_timeout")
        await note(other, failures=1)
        assert await make.rows(conn, KEY) == [(3, False, 0)]
        async with conn.transaction():
            await note(conn, has_success=True)
        await note(other, failures=1)
        assert await make.rows(conn, KEY) == [(1, False, 0)]


async def test_settling_a_batch_without_trouble_takes_one_step_in_the_index_and_writes_nothing(
    conn: Conn,
) -> None:
    for _ in range(20):
        await webhook(conn, URL)
    await told(conn, 5)
    batch = await claim(conn)
    assert len(batch) == 100
    [before] = await make.rows(conn, SCANS)

    await settle(conn, batch, CallOutcome.DELIVERED, 200)

    [after] = await make.rows(conn, SCANS)
    assert (after[0] - before[0], after[1] - before[1]) == (1, 0)


async def test_the_reason_is_told_alike_by_why_the_doctor_and_the_list(conn: Conn) -> None:
    hook = await webhook(conn, URL)
    await told(conn, 6)
    await settle(conn, (await claim(conn))[:5], CallOutcome.FAILED)
    await conn.execute(
        "UPDATE mailqueue.queue_keys SET opened_at = now() - interval '20 min';"
        " UPDATE mailqueue.webhook_deliveries SET status = 'pending', claim_no = NULL,"
        " worker_id = NULL, assigned_at = NULL, lease_until = NULL, run_at = now(), attempts = 0"
        " WHERE status = 'assigned'"
    )
    waiting = await make.scalar(
        conn, "SELECT id FROM mailqueue.webhook_deliveries WHERE run_at <= now()"
    )

    why = await make.scalar(conn, "SELECT mailqueue.why(%s)", waiting)
    [found] = [
        row[0]
        for row in await make.rows(
            conn, "SELECT found FROM mailqueue.health WHERE name = 'webhooks'"
        )
    ]
    [one] = await queues.keys(conn)

    for text in (why, found):
        assert "kept failing since" in text
        assert "is set aside until" in text
        assert "answered 500" in text
    assert (one.queue, one.key, one.subject) == ("webhooks", str(hook), URL)
    assert (one.circuit, one.failures, one.last_error) == ("open", 5, "answered 500")
    assert one.project == "default"


async def test_a_changed_url_an_enabled_and_a_removed_webhook_have_no_failures(conn: Conn) -> None:
    project = await make.project_named(conn)
    hook = await webhook(conn, URL)
    acts = (
        ("SELECT mailqueue.change_webhook(%s, %s, 'https://b.example.com', NULL, '{}', 'me')",),
        (
            "SELECT mailqueue.switch_webhook(%s, %s, false, 'me')",
            "SELECT mailqueue.switch_webhook(%s, %s, true, 'me')",
        ),
        ("SELECT mailqueue.remove_webhook(%s, %s, 'me')",),
    )
    for statements in acts:
        await told(conn)
        await settle(conn, await claim(conn), CallOutcome.FAILED)
        assert await key(conn, hook, "failures") == 1
        for statement in statements:
            await conn.execute(statement, (project, hook))
        assert await key(conn, hook, "failures") is None
