"""Isolate: mail whose worker died while handling it is handled alone, and fails in the end."""

import asyncio
from datetime import timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from mailqueue.core.queues.registry import MAX_CRASHES
from mailqueue.db.fetch import Conn
from mailqueue.mail.model import ClaimedEmail, Ending, LogStatus
from mailqueue.mail.send.begun import QUEUE, BegunEmails
from mailqueue.mail.send.store import claims as claims_store
from mailqueue.process.child import ChildEnding
from mailqueue.process.pool import WorkerPool
from mailqueue.queue import store as kernel
from mailqueue.queue.in_progress import InProgress
from mailqueue.settings.environment import DatabaseSettings, load_settings
from mailqueue.wiring import sending
from tests import make
from tests.concurrency.running import account_at, session
from tests.mail.claim.steps import (
    LEASE,
    claim,
    counted,
    difference,
    lose,
    mark,
    opened,
    row,
    sent,
    settle,
)
from tests.smtp.client.scripted import scripted

pytestmark = pytest.mark.anyio


async def suspect(
    conn: Conn, worker: int, emails: list[ClaimedEmail], *, is_alone: bool = False
) -> None:
    """Report that the worker died while it handled these emails, as its parent does."""
    rows = [(email.id, email.claim_no) for email in emails]
    held = await kernel.suspect_emails(conn, rows, is_alone=is_alone, reason="signal SIGSEGV")
    assert held == len(emails)
    await lose(conn, worker)


async def alone(conn: Conn) -> tuple[int, list[ClaimedEmail]]:
    """Claim a due suspect for a worker of its own."""
    await conn.execute("UPDATE mailqueue.email_queue SET run_at = now() WHERE crashes > 0")
    worker = await make.worker(conn)
    return worker, await claims_store.claim_suspect(conn, worker, lease=LEASE)


async def suspected(conn: Conn, count: int = 1) -> list[UUID]:
    worker = await make.worker(conn)
    emails = await claim(conn, worker, limit=count)
    assert len(emails) == count
    await suspect(conn, worker, emails)
    return [email.id for email in emails]


async def test_suspects_are_claimed_alone_and_others_as_ever(conn: Conn) -> None:
    account = await make.sender_account(conn, daily_limit=10)
    emails = await make.queued_emails(conn, 3)
    [bad] = await suspected(conn)

    assert await row(conn, bad, "status, crashes, attempts") == ("pending", 1, 0)
    assert await kernel.suspected(conn, [QUEUE]) == [QUEUE]
    why = await make.scalar(conn, "SELECT mailqueue.why(%s)", bad)
    assert why.startswith("sent alone at ")
    assert why.endswith(
        "its worker stopped while handling it: signal SIGSEGV;"
        f" to give it up: mailqueue email cancel {bad}"
    )
    others = await claim(conn, await make.worker(conn))
    assert {email.id for email in others} == set(emails) - {bad}
    _, [taken] = await alone(conn)
    assert taken.id == bad
    assert (await counted(conn, account)).reserved == 3
    assert (await counted(conn)).reserved == 3
    assert await kernel.suspected(conn, [QUEUE]) == []
    await sent(conn, [taken, *others])
    assert (await counted(conn, account)).sent == 3
    assert await difference(conn) == 0


async def test_the_lane_of_a_suspect_is_empty_for_other_claims(conn: Conn) -> None:
    await make.sender_account(conn)
    await make.queued_email(conn)
    await suspected(conn)

    taken = await claims_store.take(conn, await make.worker(conn), limit=5, lease=LEASE)

    assert (taken.emails, taken.is_left) == ([], False)


async def test_it_fails_after_so_many_deaths_alone(conn: Conn) -> None:
    account = await make.sender_account(conn, daily_limit=10)
    await make.queued_email(conn)
    [bad] = await suspected(conn)
    for _ in range(MAX_CRASHES):
        assert await make.status_of(conn, bad) == "pending"
        worker, mine = await alone(conn)
        await suspect(conn, worker, mine, is_alone=True)

    query = "SELECT status, reason FROM mailqueue.email_history WHERE id = %s"
    assert await make.rows(conn, query, bad) == [
        ("failed", "it stopped its worker: signal SIGSEGV")
    ]
    assert (await counted(conn, account)).reserved == 0
    assert await difference(conn) == 0


@pytest.mark.parametrize(
    ("ending", "log", "crashes"),
    [(Ending.RETRY, LogStatus.DEFERRED, 0), (Ending.DEFER, None, 1)],
)
async def test_a_counted_failure_clears_it(
    conn: Conn, ending: Ending, log: LogStatus | None, crashes: int
) -> None:
    await make.sender_account(conn)
    await make.queued_email(conn)
    [bad] = await suspected(conn)
    _, mine = await alone(conn)

    await settle(conn, mine, ending, log=log, wait=timedelta(minutes=1))

    assert await row(conn, bad, "crashes") == (crashes,)


@pytest.mark.parametrize(("delivery", "status"), [("resend", "pending"), ("hold", "held")])
async def test_marked_mail_follows_its_policy_and_stays_a_suspect(
    conn: Conn, delivery: str, status: str
) -> None:
    await make.sender_account(conn)
    await make.queued_email(conn, delivery=delivery)
    worker = await make.worker(conn)
    mine = await claim(conn, worker)
    await mark(conn, worker, mine)

    await suspect(conn, worker, mine)

    assert await row(conn, mine[0].id, "status, crashes, unknowns") == (status, 1, 1)


async def test_one_that_cannot_be_sent_now_is_looked_at_later(conn: Conn) -> None:
    """Otherwise a process would be started again and again for mail of a paused account."""
    account = await make.sender_account(conn, daily_limit=1)
    await make.queued_email(conn)
    await suspected(conn)
    await conn.execute(
        "UPDATE mailqueue.sender_accounts SET status = 'paused' WHERE id = %s", (account,)
    )

    _, mine = await alone(conn)

    assert mine == []
    assert await kernel.suspected(conn, [QUEUE]) == []


async def test_the_parent_counts_the_death_on_the_emails_that_were_begun(
    database: DatabaseSettings, tmp_path: Path
) -> None:
    async with session(database) as conn:
        await make.sender_account(conn)
        await make.queued_emails(conn, 3)
        worker, launch = await make.worker(conn), uuid4()
        mine = await claim(conn, worker)
        await conn.execute(
            "UPDATE mailqueue.workers SET launch_id = %s WHERE id = %s", (launch, worker)
        )
        memory = InProgress()
        begun = BegunEmails(memory)
        for email in mine[:2]:
            begun.step(email)
            begun.step(None)
        begun.end(mine[1].id, mine[1].claim_no)
        pool = WorkerPool(load_settings(database_url=database.url, data=tmp_path), [])

        await pool._report(ChildEnding(-11, None), memory.rows(), launch, is_alone=False)

        query = "SELECT id, crashes FROM mailqueue.email_queue WHERE status = 'pending'"
        expected = {mine[0].id: 1, mine[1].id: 0, mine[2].id: 0}
        assert dict(await make.rows(conn, query)) == expected
        await pool._link.close()
        memory.close()


async def test_a_process_of_its_own_sends_suspects_until_none_is_due(
    database: DatabaseSettings, tmp_path: Path
) -> None:
    async with scripted() as server, session(database) as conn:
        await account_at(conn, server)
        await make.queued_emails(conn, 3)
        bad = await suspected(conn, 2)
        await conn.execute("UPDATE mailqueue.email_queue SET run_at = now() WHERE crashes > 0")
        memory = InProgress()
        settings = load_settings(database_url=database.url, data=tmp_path)
        worker = sending.build_send_worker(
            settings, launch_id=uuid4(), in_progress=memory, is_alone=True
        )

        async with asyncio.timeout(60):
            assert await worker.run(asyncio.Event())

        query = "SELECT id FROM mailqueue.email_history WHERE status = 'sent'"
        assert {email for (email,) in await make.rows(conn, query)} == set(bad)
        assert memory.rows() == []
        memory.close()


async def test_the_row_in_a_long_step_goes_after_the_others_of_its_worker(conn: Conn) -> None:
    """It is named first, and was at fault if any was."""
    await make.sender_account(conn)
    first, *others = await make.queued_emails(conn, 3)
    worker = await make.worker(conn)
    emails = {email.id: email for email in await claim(conn, worker)}
    await suspect(conn, worker, [emails[id_] for id_ in (first, *others)])

    query = "SELECT id FROM mailqueue.email_queue WHERE run_at <= now() AND crashes = 1"
    assert {id_ for (id_,) in await make.rows(conn, query)} == set(others)


async def test_a_suspect_behind_the_lock_of_a_claim_stays_due(database: DatabaseSettings) -> None:
    """Locks of lanes and limits are held for milliseconds; a lane that is blocked waits longer."""
    async with opened(database, 2) as (conn, other):
        account = await make.sender_account(conn)
        await make.queued_emails(conn, 2)
        [bad] = await suspected(conn)
        for lock in (
            "SELECT FROM mailqueue.lanes FOR NO KEY UPDATE",
            "SELECT FROM mailqueue.limits FOR NO KEY UPDATE",
            "SELECT FROM mailqueue.email_queue FOR NO KEY UPDATE",
        ):
            await conn.execute("UPDATE mailqueue.email_queue SET run_at = now() WHERE crashes > 0")
            worker = await make.worker(conn)
            async with other.transaction():
                await other.execute(lock)
                assert await claims_store.claim_suspect(conn, worker, lease=LEASE) == []
            assert await kernel.suspected(conn, [QUEUE]) == [QUEUE], lock
        await conn.execute(
            "UPDATE mailqueue.sender_accounts SET status = 'paused' WHERE id = %s", (account,)
        )
        assert (await alone(conn))[1] == []
        assert await kernel.suspected(conn, [QUEUE]) == []
        assert await make.status_of(conn, bad) == "pending"


async def test_doctor_shows_suspects_and_those_that_failed(conn: Conn) -> None:
    async def shown() -> list[tuple[str, str, str | None]]:
        query = "SELECT state, found, fix FROM mailqueue.health"
        return await make.rows(conn, f"{query} WHERE name = 'rows that stop workers'")

    await make.sender_account(conn)
    await make.queued_emails(conn, 3)
    assert await shown() == [("ok", "none failed in the last day", None)]
    bad, _ = await suspected(conn, 2)
    alone_words = "handled alone since their worker stopped: 2 emails"
    assert await shown() == [("ok", f"none failed in the last day; {alone_words}", None)]
    await conn.execute("UPDATE mailqueue.email_queue SET crashes = 2 WHERE id = %s", (bad,))
    [(state, _, fix)] = await shown()
    assert (state, fix is not None) == ("warning", True)
    await conn.execute(
        "UPDATE mailqueue.email_queue SET crashes = %s WHERE id = %s", (MAX_CRASHES + 1, bad)
    )
    await kernel.rescue(conn, silence=timedelta(minutes=1))
    [(state, found, fix)] = await shown()
    assert state == "warning"
    assert found == (
        "failed in the last day because they stopped their worker: 1 email;"
        " handled alone since their worker stopped: 1 email"
    )
    assert fix is not None
    assert str(bad) in fix

    query = (
        "SELECT detail->>'reason' FROM mailqueue.audit_events WHERE action = %s AND subject = %s"
    )
    assert await make.rows(conn, query, "email.stopped_worker", f"email {bad}") == [
        ("it stopped its worker: signal SIGSEGV",)
    ]
    await conn.execute(
        "UPDATE mailqueue.email_history SET status = 'cancelled' WHERE id = %s", (bad,)
    )
    assert "failed in the last day because" not in (await shown())[0][1]
