"""Which deliveries a claim takes, and their outcomes."""

from collections import Counter
from datetime import timedelta
from uuid import UUID

import pytest

from mailqueue.core.outcome import Defer
from mailqueue.db.fetch import Conn
from mailqueue.queue import store as queue_store
from mailqueue.webhooks.model import CallOutcome
from mailqueue.webhooks.store import deliveries as store
from tests import make
from tests.webhooks.delivering import due_now, states, told, webhook
from tests.webhooks.settling import SPEC, URL, claim, column, key, settle

pytestmark = pytest.mark.anyio
LADDER = (60, 300, 1800, 7200, 43200, 86400)


async def test_a_claim_brings_the_body_and_counts_the_attempt(conn: Conn) -> None:
    hook = await webhook(conn, URL)
    await told(conn)

    (one,) = await claim(conn)

    assert (one.webhook_id, one.attempts) == (hook, 1)
    assert one.revision == 1
    assert one.payload is not None
    assert str(one.event_id) in one.payload
    assert await claim(conn) == []


async def test_projects_share_a_claim_and_endpoints_share_what_their_project_has(
    conn: Conn,
) -> None:
    """Fair: one project's million events delay another's by no more than a batch."""
    loud, quiet = await make.project(conn), await make.project(conn)
    hooks = [await webhook(conn, URL, project_id=loud) for _ in range(3)]
    other = await webhook(conn, URL, project_id=quiet)
    await told(conn, 100, project_id=loud)
    await told(conn, 100, project_id=quiet)

    found = Counter(one.webhook_id for one in await claim(conn, limit=60))

    assert found == {hooks[0]: 10, hooks[1]: 10, hooks[2]: 10, other: 30}


async def test_an_endpoint_gets_no_more_than_it_has_room_for(conn: Conn) -> None:
    known, unknown, full = [await webhook(conn, URL) for _ in range(3)]
    await told(conn, 50)

    found = Counter(one.webhook_id for one in await claim(conn, first=4, room={known: 20, full: 0}))

    assert found == {known: 20, unknown: 4}


async def test_more_endpoints_than_a_claim_takes_all_have_their_turn(conn: Conn) -> None:
    projects = [await make.project(conn) for _ in range(12)]
    for project in projects:
        await webhook(conn, URL, project_id=project)
        await told(conn, 1, project_id=project)

    found = set[UUID]()
    for _ in range(4):
        found |= {one.project_id for one in await claim(conn, limit=3)}

    assert found == set(projects)


async def test_retries_follow_the_ladder_and_the_last_one_ends_it(conn: Conn) -> None:
    hook = await webhook(conn, URL)
    await told(conn)
    waits = []
    for _ in LADDER:
        await settle(conn, await claim(conn), CallOutcome.FAILED)
        waits.append(
            await make.scalar(
                conn,
                "SELECT extract(epoch FROM run_at - clock_timestamp())::float8"
                " FROM mailqueue.webhook_deliveries",
            )
        )
        await due_now(conn)
    await settle(conn, await claim(conn), CallOutcome.FAILED)

    for wait, step in zip(waits, LADDER, strict=True):
        assert step - 30 < wait <= step * 1.05, "never earlier, and not much later"
    assert await states(conn, hook) == ["failed"]
    assert await make.scalar(conn, "SELECT attempts FROM mailqueue.webhook_deliveries") == 7


async def test_a_wait_that_was_asked_for_is_kept_by_all_deliveries(conn: Conn) -> None:
    hook = await webhook(conn, URL)
    await told(conn, 2)
    first = await claim(conn, limit=1)

    blocked = await settle(
        conn, first, CallOutcome.FAILED, 429, wait=timedelta(minutes=10), rests=True
    )

    assert blocked == [hook]
    assert await claim(conn) == []
    rest = await key(conn, hook, "blocked_until - clock_timestamp()")
    assert isinstance(rest, timedelta)
    assert timedelta(minutes=9) < rest <= timedelta(minutes=10)
    due = await make.scalar(
        conn,
        "SELECT max(run_at) - clock_timestamp() FROM mailqueue.webhook_deliveries",
    )
    assert due > timedelta(minutes=9)


async def test_an_endpoint_that_keeps_failing_is_left_alone_and_then_probed_by_one(
    conn: Conn,
) -> None:
    hook, fine = await webhook(conn, URL), await webhook(conn, URL)
    await told(conn, 20)
    batch = [one for one in await claim(conn) if one.webhook_id == hook]
    await settle(conn, batch[:4], CallOutcome.FAILED)
    assert await key(conn, hook, "opened_at") is None
    await settle(conn, batch[4:5], CallOutcome.FAILED)
    await queue_store.settle(conn, SPEC, [(row, Defer()) for row in batch[5:]])

    assert await claim(conn) == [], "nobody calls it, and its deliveries count no attempt"
    assert (
        await make.scalar(
            conn,
            "SELECT sum(attempts) FROM mailqueue.webhook_deliveries WHERE webhook_id = %s",
            hook,
        )
        == 5
    )
    await due_now(conn)

    probe = await claim(conn)
    assert [one.webhook_id for one in probe] == [hook]
    assert await claim(conn) == [], "one probe at a time"
    opened = await key(conn, hook, "openings")
    await settle(conn, probe, CallOutcome.FAILED)
    assert await key(conn, hook, "openings") == opened + 1  # type: ignore[operator]
    assert await claim(conn) == []

    await due_now(conn)
    await settle(conn, await claim(conn), CallOutcome.DELIVERED, 200)
    assert await key(conn, hook, "opened_at") is None
    assert len(await claim(conn)) == 19, "all the others, at once"
    assert await key(conn, fine, "failures") is None, "no row of a key that is well"


async def test_rests_grow_up_to_ten_minutes(conn: Conn) -> None:
    found = [await make.scalar(conn, "SELECT mailqueue.key_rest(%s)", n) for n in (1, 2, 3, 6, 900)]

    assert [one.total_seconds() for one in found] == [30, 60, 120, 600, 600]


async def test_an_endpoint_that_is_gone_is_disabled_and_its_deliveries_cancelled(
    conn: Conn,
) -> None:
    hook = await webhook(conn, URL)
    await told(conn, 5)
    (one,) = await claim(conn, limit=1)

    await settle(conn, [one], CallOutcome.GONE, 410)
    await store.tidy(conn, limit=100)

    assert sorted(await states(conn, hook)) == ["cancelled"] * 4 + ["failed"]
    assert await column(conn, hook, "is_enabled") is False
    assert await column(conn, hook, "disabled_reason") == "gone"
    row = await make.rows(
        conn, "SELECT state, found, fix FROM mailqueue.health WHERE name = 'webhooks'"
    )
    assert row[0][0] == "warning"
    assert "answered 410" in row[0][1]
    audit = "SELECT count(*) FROM mailqueue.audit_events WHERE action = 'webhook.disabled'"
    assert await make.scalar(conn, audit) == 1
    await told(conn)
    assert len(await states(conn, hook)) == 5, "nothing new is told to it"


async def test_an_endpoint_that_failed_for_days_is_disabled(conn: Conn) -> None:
    hook = await webhook(conn, URL)
    await told(conn, 2)
    first, second = await claim(conn)
    await settle(conn, [first], CallOutcome.FAILED)
    assert await column(conn, hook, "is_enabled") is True
    await conn.execute("UPDATE mailqueue.queue_keys SET failing_since = now() - interval '121 h'")

    await settle(conn, [second], CallOutcome.FAILED)

    assert await column(conn, hook, "disabled_reason") == "failing"


async def test_what_waits_for_a_disabled_endpoint_waits_until_it_is_enabled(conn: Conn) -> None:
    hook = await webhook(conn, URL)
    await told(conn, 3)
    project = await make.project_named(conn)
    await conn.execute("SELECT mailqueue.switch_webhook(%s, %s, false, 'me')", (project, hook))

    assert await claim(conn) == []
    await store.tidy(conn, limit=100)
    assert await states(conn, hook) == ["pending"] * 3
    await conn.execute("SELECT mailqueue.switch_webhook(%s, %s, true, 'me')", (project, hook))
    assert len(await claim(conn)) == 3


async def test_the_log_of_a_removed_webhook_goes_in_batches_and_then_it_itself(conn: Conn) -> None:
    hook = await webhook(conn, URL)
    await told(conn, 5)
    await settle(conn, await claim(conn, limit=2), CallOutcome.FAILED)
    project = await make.project_named(conn)
    await conn.execute("SELECT mailqueue.remove_webhook(%s, %s, 'me')", (project, hook))

    assert await store.tidy(conn, limit=3) == 3
    assert await store.tidy(conn, limit=3) == 2
    assert await column(conn, hook, "id") is None
