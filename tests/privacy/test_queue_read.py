"""An erasure reads the queue once, in parts of a bounded size."""

from uuid import UUID

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending
from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.privacy import erasing, persons, store
from tests import make
from tests.mail.claim.steps import claim, settle
from tests.privacy.erasing import erased
from tests.privacy.planted_rows import ANN

pytestmark = pytest.mark.anyio
ROWS = 10_000
"""Rows of the queue that one statement reads."""
OTHERS = 25_000
COPIED = (
    "project_id, lane_id, status, priority, attempts, max_attempts, created_at, recipients,"
    " unknowns, delivery, category, expires_at, recipient_email, content_id, content_on"
)
READ = """
    SELECT (seq_tup_read + idx_tup_fetch)::integer FROM pg_stat_xact_user_tables
    WHERE relname = 'email_queue'
"""
QUEUED = "SELECT count(*) FROM mailqueue.email_queue WHERE recipient_email = %s"


async def to_others(conn: Conn, count: int) -> None:
    """Queue so many mails to others, behind all that are queued."""
    first = await make.queued_email(conn, recipient_email="bob@example.com")
    await conn.execute(
        (
            f"INSERT INTO mailqueue.email_queue (id, is_test, {COPIED}, project)"
            f" SELECT mailqueue.uuidv7(), is_test, {COPIED}, NULL"
            " FROM mailqueue.email_queue, generate_series(2, %s) WHERE id = %s"
        ).encode(),
        (count, first),
    )


async def begun(desk: MaintenanceContext) -> UUID:
    lend = persons.lending(desk.conn)
    (one,) = await persons.projects(desk.conn, "default")
    return await erasing.begin(lend, one.id, persons.spellings_of(ANN), by="tests")


async def test_each_step_reads_a_part_and_the_next_goes_on(desk: MaintenanceContext) -> None:
    conn = desk.conn
    await make.sender_account(conn)
    for _ in range(2):
        await make.queued_email(conn, recipient_email=ANN)
        await to_others(conn, OTHERS // 2)
    await make.queued_email(conn, recipient_email=ANN)
    await conn.execute("ANALYZE mailqueue.email_queue")
    erasure = await begun(desk)

    steps = list[tuple[int, int]]()
    while not steps or steps[-1][0] > 0:
        async with conn.transaction():
            before = await make.scalar(conn, READ)
            step = await store.erase_mail(conn, erasure, limit=200)
            steps.append((step.changed, await make.scalar(conn, READ) - before))

    assert await make.scalar(conn, QUEUED, ANN) == 0
    assert all(read <= ROWS + 100 for _, read in steps), steps
    # Each row once, but the last part, which is read again until nothing is found.
    assert sum(read for _, read in steps) <= OTHERS + 2 * ROWS, steps
    assert len(steps) <= OTHERS // ROWS + 3, steps


async def test_many_mails_of_one_part_are_all_cancelled(desk: MaintenanceContext) -> None:
    """One step cancels fewer than a part may have."""
    await make.sender_account(desk.conn)
    await make.queued_emails(desk.conn, 450, recipient_email=ANN)

    found = await erased(desk)

    assert found.is_done
    assert found.erasure.found["mails"] == 450
    assert await make.scalar(desk.conn, QUEUED, ANN) == 0


async def test_mail_that_a_worker_puts_back_behind_the_place_is_cancelled(
    desk: MaintenanceContext,
) -> None:
    conn = desk.conn
    await make.sender_account(conn)
    mail = await make.queued_email(conn, recipient_email=ANN, delivery="hold")
    claims = await claim(conn, await make.worker(conn))
    await to_others(conn, ROWS + 1)
    waiting = await erased(desk)
    place = (await erasing.get(conn, waiting.erasure.id)).place

    await settle(conn, claims, Ending.UNKNOWN)
    held = await make.scalar(conn, "SELECT status FROM mailqueue.email_queue WHERE id = %s", mail)
    found = await erased(desk)

    assert (waiting.is_done, waiting.waiting, held) == (False, 1, "held")
    assert isinstance(place, dict)
    assert UUID(place["queue"]) > mail
    assert found.is_done
    status = "SELECT status, reason FROM mailqueue.email_history WHERE id = %s"
    assert await make.rows(conn, status, mail) == [("cancelled", "erased")]


async def test_mail_to_several_that_a_worker_holds_goes_to_the_others(
    desk: MaintenanceContext,
) -> None:
    conn = desk.conn
    await make.sender_account(conn)
    mail = await make.queued_email(conn, recipient_email=ANN, cc=["bob@example.com"])
    claims = await claim(conn, await make.worker(conn))

    waiting = [(await erased(desk)).waiting for _ in range(2)]
    queued = "SELECT status, is_cancelled, recipient_email FROM mailqueue.email_queue WHERE id = %s"
    held = await make.rows(conn, queued, mail)
    await settle(conn, claims, Ending.RETRY)
    found = await erased(desk)

    assert (waiting, held) == ([1, 1], [("assigned", False, ANN)])
    assert found.is_done
    assert await make.rows(conn, queued, mail) == [("pending", False, "bob@example.com")]


async def test_mail_that_is_queued_again_behind_the_place_is_cancelled(
    desk: MaintenanceContext,
) -> None:
    """A step leaves finished mail to the next; meanwhile a person can have it sent again."""
    conn = desk.conn
    await make.sender_account(conn)
    mails = set(await make.queued_emails(conn, 2, recipient_email=ANN, recipient_name="Ann Lee"))
    await settle(conn, await claim(conn, await make.worker(conn)), Ending.FAILED)
    await to_others(conn, ROWS + 1)
    erasure = await begun(desk)
    await store.erase_mail(conn, erasure, limit=1)
    named = "SELECT id FROM mailqueue.email_history WHERE recipient_name IS NOT NULL"
    (left,) = [row[0] for row in await make.rows(conn, named)]

    assert left in mails
    await conn.execute(
        "SELECT mailqueue.requeue_emails(project_id, ARRAY[id]) FROM mailqueue.email_history"
        " WHERE id = %s",
        (left,),
    )
    found = await erased(desk)

    assert found.is_done
    status = "SELECT status, reason, recipient_name FROM mailqueue.email_history WHERE id = %s"
    assert await make.rows(conn, status, left) == [("cancelled", "erased", None)]
