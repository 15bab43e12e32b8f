"""Mail of one key goes in the order in which it was inserted, one after another."""

from uuid import uuid4

import pytest
from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.mail.model import Ending, LogStatus
from mailqueue.queue import store as kernel
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.steps import SILENCE, claim, lose, mark, opened, sent, settle
from tests.outboxes.ordered import drained, ids, of_customer, ordered, why
from tests.outboxes.rows import PLAIN

pytestmark = pytest.mark.anyio


async def test_mail_of_a_key_goes_one_after_another_and_keys_beside_each_other(conn: Conn) -> None:
    await ordered(conn, "custom_data.customer")
    worker = await make.worker(conn)
    a1, b1, a2, b2 = [await of_customer(conn, who) for who in ("a", "b", "a", "b")]
    free = await make.queued_email(conn)

    first = await claim(conn, worker)
    assert set(ids(first)) == {a1, b1, free}
    assert await claim(conn, worker) == []

    await sent(conn, [email for email in first if email.id == a1])
    assert ids(await claim(conn, worker)) == [a2]
    await sent(conn, [email for email in first if email.id == b1])
    assert ids(await claim(conn, worker)) == [b2]


@pytest.mark.parametrize("priority", [3, 0])
async def test_a_later_mail_of_higher_priority_waits(conn: Conn, priority: int) -> None:
    await ordered(conn, "project")
    worker = await make.worker(conn)
    mails = [await make.queued_email(conn, priority=p) for p in (2, priority, 2)]

    assert await drained(conn, worker) == mails


async def test_the_view_orders_by_its_numbers_and_other_mail_goes_beside(conn: Conn) -> None:
    await ordered(conn, "outboxes")
    worker = await make.worker(conn)
    written = [await make.scalar(conn, PLAIN, uuid4()) for _ in range(5)]
    other = await make.queued_email(conn)

    order = await drained(conn, worker)

    assert [email for email in order if email != other] == written
    assert order.index(other) <= 1
    numbers = await make.rows(conn, "SELECT id FROM mailqueue.outboxes ORDER BY sequence_number")
    assert [row[0] for row in numbers] == written


async def test_mail_of_a_batch_goes_in_the_order_of_its_messages(conn: Conn) -> None:
    await ordered(conn, "project")
    worker = await make.worker(conn)
    messages = [{"recipient": f"p{n}@example.com", "subject": "s", "text": "t"} for n in range(6)]
    found = await make.rows(
        conn, "SELECT id FROM mailqueue.enqueue_batch('default', %s)", Jsonb(messages)
    )

    assert await drained(conn, worker) == [row[0] for row in found]


ENDINGS = (Ending.RETRY, Ending.DEFER, Ending.UNKNOWN)


@pytest.mark.parametrize("ending", ENDINGS)
async def test_while_the_first_is_not_finished_the_second_waits(conn: Conn, ending: Ending) -> None:
    await ordered(conn, "project", on_failure="continue")
    worker = await make.worker(conn)
    first, second = [await make.queued_email(conn, delivery="hold") for _ in range(2)]
    [email] = await claim(conn, worker)
    await mark(conn, worker, [email])
    log = LogStatus.UNKNOWN if ending is Ending.UNKNOWN else LogStatus.DEFERRED
    await settle(conn, [email], ending, reason="451", log=log)

    assert second not in ids(await claim(conn, worker))
    state = {Ending.UNKNOWN: "held", Ending.DEFER: "assigned", Ending.RETRY: "pending"}[ending]
    assert (await why(conn, second)).startswith(
        f"waits in order behind email {first}, which is {state}; "
    )


@pytest.mark.parametrize("ending", [Ending.FAILED, Ending.EXPIRED, Ending.SUPPRESSED])
async def test_when_the_first_fails_the_second_goes_on(conn: Conn, ending: Ending) -> None:
    await ordered(conn, "project")
    worker = await make.worker(conn)
    _, second = [await make.queued_email(conn) for _ in range(2)]

    await settle(conn, await claim(conn, worker), ending, reason="550", log=LogStatus.REJECTED)

    assert ids(await claim(conn, worker)) == [second]
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_order") == 1


@pytest.mark.parametrize("place", [0, 1, 2])
async def test_a_row_that_leaves_by_hand_lets_the_others_go_on(conn: Conn, place: int) -> None:
    await ordered(conn, "project")
    worker = await make.worker(conn)
    mails = [await make.queued_email(conn) for _ in range(4)]
    await make.by_hand(conn)
    await conn.execute(b"DELETE FROM mailqueue.email_queue WHERE id = %s", [mails.pop(place)])

    assert await drained(conn, worker) == mails
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_order") == 0


async def test_a_held_mail_in_the_middle_blocks_and_keeps_its_place(conn: Conn) -> None:
    await ordered(conn, "project")
    worker = await make.worker(conn)
    project = await make.project_named(conn)
    first, second, third = [await make.queued_email(conn) for _ in range(3)]
    await make.rows(conn, "SELECT * FROM mailqueue.hold_emails(%s, %s, 'x')", project, [second])

    assert await drained(conn, worker) == [first]
    assert f"behind email {second}, which is held" in await why(conn, third)
    await make.rows(conn, "SELECT * FROM mailqueue.release_emails(%s, %s)", project, [second])
    assert await drained(conn, worker) == [second, third]


async def test_a_waiting_mail_that_is_held_and_released_does_not_overtake(conn: Conn) -> None:
    await ordered(conn, "project")
    worker = await make.worker(conn)
    project = await make.project_named(conn)
    first, second = [await make.queued_email(conn) for _ in range(2)]
    await make.rows(conn, "SELECT * FROM mailqueue.hold_emails(%s, %s, 'x')", project, [second])
    await make.rows(conn, "SELECT * FROM mailqueue.release_emails(%s, %s)", project, [second])
    for change in ("reschedule_emails(%s, %s, now())", "reprioritise_emails(%s, %s, 0::smallint)"):
        await make.rows(conn, f"SELECT * FROM mailqueue.{change}", project, [second])

    assert ids(await claim(conn, worker)) == [first]


async def test_a_mail_whose_worker_is_lost_is_still_first(conn: Conn) -> None:
    await ordered(conn, "project")
    lost, worker = await make.worker(conn), await make.worker(conn)
    first, second = [await make.queued_email(conn) for _ in range(2)]
    await mark(conn, lost, await claim(conn, lost))
    await lose(conn, lost)
    await kernel.rescue(conn, silence=SILENCE)

    assert await drained(conn, worker) == [first, second]


async def test_a_scheduled_mail_makes_later_ones_wait_for_its_time(conn: Conn) -> None:
    await ordered(conn, "project")
    worker = await make.worker(conn)
    later = await make.scalar(conn, "SELECT now() + interval '1 h'")
    first = await make.queued_email(conn, run_at=later)
    second = await make.queued_email(conn)

    assert await claim(conn, worker) == []
    assert (
        await make.scalar(conn, "SELECT run_at FROM mailqueue.emails WHERE id = %s", first) == later
    )
    assert f"behind email {first}, which is pending" in await why(conn, second)


async def test_a_transaction_that_commits_late_keeps_its_earlier_place(
    database: DatabaseSettings,
) -> None:
    async with opened(database, 3) as (late, early, conn):
        await ordered(conn, "project")
        worker = await make.worker(conn)
        async with late.transaction():
            first = await make.queued_email(late)
            second = await make.queued_email(early)

            assert await claim(conn, worker) == []
            assert "transactions that may still insert an earlier one" in await why(conn, second)
        await conn.execute(b"UPDATE mailqueue.order_signals SET look_at = now()")

        assert await drained(conn, worker) == [first, second]


async def test_a_transaction_that_begins_later_or_orders_other_mail_delays_nothing(
    database: DatabaseSettings,
) -> None:
    async with opened(database, 3) as (other, early, conn):
        await ordered(conn, "project")
        shop = await make.project(conn, "shop", ordering="project")
        await make.sender_account(conn, project_id=shop)
        worker = await make.worker(conn)
        async with other.transaction():
            await make.queued_email(other, project="shop")
            await other.execute(b"CREATE TEMP TABLE report ON COMMIT DROP AS SELECT 1 AS one")
            first = await make.queued_email(early)

            assert ids(await claim(conn, worker)) == [first]


async def test_a_rolled_back_mail_leaves_no_gap_to_wait_for(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        await ordered(conn, "project")
        worker = await make.worker(conn)
        async with conn.transaction(force_rollback=True):
            await make.queued_email(conn)
        kept = await make.queued_email(conn)

        assert await drained(conn, worker) == [kept]


async def test_values_of_a_key_are_compared_as_json(conn: Conn) -> None:
    await ordered(conn, "custom_data.customer")
    worker = await make.worker(conn)
    for value in (1, 1.0, "1", None, [1], {"a": 1}):
        await of_customer(conn, value)
    await make.queued_email(conn, custom_data=Jsonb(["customer"]))

    assert len(await claim(conn, worker)) == 6


async def test_mail_that_waits_leaves_when_the_project_orders_no_more(conn: Conn) -> None:
    await ordered(conn, "project")
    worker = await make.worker(conn)
    mails = [await make.queued_email(conn) for _ in range(3)]
    await conn.execute(b"SELECT mailqueue.change_project('default', '{\"ordering\": null}')")

    assert await drained(conn, worker) == mails
