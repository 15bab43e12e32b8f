"""OneCommit: the consequences of an outcome are written with it, once."""

from datetime import timedelta
from typing import Any

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending, LogStatus, RecipientOutcome
from mailqueue.mail.send.store.outcomes import settle_and_mark
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.steps import (
    NO_WORKER,
    claim,
    counted,
    difference,
    due_now,
    opened,
    outcome,
    row,
    sent,
    settle,
)

pytestmark = pytest.mark.anyio
GONE = RecipientOutcome("cy@example.com", "failed", "no such user", "5.1.1", hard=True)
TAKEN = RecipientOutcome("ann@example.com", "sent", None, None, hard=False)


async def logs(conn: Conn) -> list[tuple[Any, ...]]:
    return await make.rows(
        conn, "SELECT status, attempt, error_code, reply FROM mailqueue.send_logs ORDER BY id"
    )


async def recipients(conn: Conn) -> dict[str, tuple[str, str | None]]:
    found = await make.rows(conn, "SELECT address, status, reason FROM mailqueue.email_recipients")
    return {address: (status, reason) for address, status, reason in found}


async def test_a_sent_mail_leaves_the_queue_for_history_with_its_proof(conn: Conn) -> None:
    """Accept: never in both tables, never in neither."""
    account = await make.sender_account(conn)
    email = await make.queued_email(conn)
    worker = await make.worker(conn)
    taken = await claim(conn, worker)

    await settle(
        conn, taken, log=LogStatus.SENT, message_id="<1@x>", provider_message_id="p", code="250"
    )

    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_queue") == 0
    assert await make.rows(
        conn, "SELECT id, status, message_id, provider_message_id FROM mailqueue.email_history"
    ) == [(email, "sent", "<1@x>", "p")]
    assert await logs(conn) == [("sent", 1, "250", None)]
    assert (await counted(conn, account)).sent == (await counted(conn)).sent == 1
    assert (await counted(conn, account)).reserved == (await counted(conn)).reserved == 0


async def test_settling_twice_counts_once(conn: Conn) -> None:
    """A worker that lost its connection does not know whether its outcomes were written."""
    account = await make.sender_account(conn)
    await make.queued_emails(conn, 2)
    taken = await claim(conn, await make.worker(conn))

    assert await sent(conn, taken) == []
    assert sorted(await sent(conn, taken)) == sorted(email.id for email in taken)

    assert (await counted(conn, account)).sent == 2
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_history") == 2
    assert await difference(conn) == 0


async def test_a_mail_given_back_before_its_attempt_spends_none(conn: Conn) -> None:
    account = await make.sender_account(conn)
    email = await make.queued_email(conn)
    due = (await row(conn, email, "run_at"))[0]
    taken = await claim(conn, await make.worker(conn))

    await settle(conn, taken, Ending.DEFER, reason="the server is away")

    assert await row(conn, email, "status, attempts, run_at, last_error") == (
        "pending", 0, due, "the server is away"
    )  # fmt: skip
    assert (await counted(conn, account)).reserved == (await counted(conn, account)).sent == 0
    assert await logs(conn) == []


async def test_a_retry_without_attempts_left_has_failed(conn: Conn) -> None:
    await make.sender_account(conn)
    email = await make.queued_email(conn, max_attempts=1)
    taken = await claim(conn, await make.worker(conn))

    await settle(conn, taken, Ending.RETRY, reason="busy", wait=timedelta(minutes=1))

    assert await make.status_of(conn, email) == "failed"
    assert await make.scalar(conn, "SELECT reason FROM mailqueue.email_history") == "busy"


@pytest.mark.parametrize("ending", [Ending.RETRY, Ending.DEFER])
async def test_mail_that_would_return_after_its_end_has_expired(conn: Conn, ending: Ending) -> None:
    await make.sender_account(conn)
    email = await make.queued_email(conn)
    taken = await claim(conn, await make.worker(conn))

    await settle(conn, taken, ending, reason="busy", wait=timedelta(days=5))

    assert await make.status_of(conn, email) == "expired"


async def test_a_hard_bounce_suppresses_the_address_in_the_same_commit(conn: Conn) -> None:
    """Suppress."""
    account = await make.sender_account(conn)
    await make.queued_email(conn, recipient_email="Ann@Example.com")
    taken = await claim(conn, await make.worker(conn))

    await settle(
        conn, taken, Ending.FAILED, reason="no such user", log=LogStatus.BOUNCED, hard=True
    )

    assert await make.rows(conn, "SELECT address, reason FROM mailqueue.suppressions") == [
        ("ann@example.com", "hard_bounce")
    ]
    bounces = "SELECT daily_bounces FROM mailqueue.sender_headroom WHERE sender_account_id = %s"
    assert await make.scalar(conn, bounces, account) == 1


async def test_a_soft_failure_suppresses_no_address(conn: Conn) -> None:
    """Suppress."""
    await make.sender_account(conn)
    await make.queued_email(conn)
    taken = await claim(conn, await make.worker(conn))

    await settle(conn, taken, Ending.FAILED, reason="full", log=LogStatus.BOUNCED)

    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.suppressions") == 0


async def test_each_recipient_of_a_message_has_its_own_outcome(conn: Conn) -> None:
    account = await make.sender_account(conn)
    email = await make.queued_email(conn, cc=["cy@example.com"])
    taken = await claim(conn, await make.worker(conn))

    await settle(conn, taken, spent=1, log=LogStatus.SENT, recipients=(TAKEN, GONE))

    assert await make.status_of(conn, email) == "sent"
    assert await recipients(conn) == {
        "ann@example.com": ("sent", None),
        "cy@example.com": ("failed", "no such user"),
    }
    assert await make.rows(conn, "SELECT address FROM mailqueue.suppressions") == [
        ("cy@example.com",)
    ]
    assert (await counted(conn, account)).sent == 1
    assert (await counted(conn, account)).reserved == 0


async def test_recipients_left_over_share_the_mails_end(conn: Conn) -> None:
    """Accept: no recipient stays pending when its mail is finished."""
    await make.sender_account(conn)
    email = await make.queued_email(conn, cc=["cy@example.com"])
    worker = await make.worker(conn)
    taken = await claim(conn, worker)
    await settle(conn, taken, Ending.RETRY, spent=1, left=1, recipients=(TAKEN,))
    await due_now(conn)
    taken = await claim(conn, worker)

    await settle(conn, taken, Ending.FAILED, reason="gave up", log=LogStatus.REJECTED)

    assert await make.status_of(conn, email) == "failed"
    assert await recipients(conn) == {
        "ann@example.com": ("sent", None),
        "cy@example.com": ("failed", "gave up"),
    }


async def test_a_stopped_recipient_is_recorded_as_suppressed(conn: Conn) -> None:
    """Suppress: the record must not say that mail was sent to a person who unsubscribed."""
    await make.sender_account(conn)
    await make.queued_email(conn, cc=["cy@example.com"])
    taken = await claim(conn, await make.worker(conn))
    await conn.execute("INSERT INTO mailqueue.unsubscribe_list (email) VALUES ('cy@example.com')")
    stopped = RecipientOutcome("cy@example.com", "suppressed", None, None, hard=False)

    await settle(conn, taken, spent=1, log=LogStatus.SENT, recipients=(TAKEN, stopped))

    assert (await recipients(conn))["cy@example.com"] == ("suppressed", "unsubscribed")


async def test_outcomes_of_one_group_do_not_mix(conn: Conn) -> None:
    await make.sender_account(conn)
    await make.queued_emails(conn, 5)
    a, b, c, d, e = await claim(conn, await make.worker(conn))

    written = await settle_and_mark(
        conn,
        NO_WORKER,
        settled=[
            outcome(a, Ending.SENT, log=LogStatus.SENT),
            outcome(b, Ending.FAILED, reason="b", log=LogStatus.REJECTED),
            outcome(c, Ending.RETRY, reason="c", wait=timedelta(minutes=1)),
            outcome(d, Ending.UNKNOWN, reason="d", spent=1),
            outcome(e, Ending.CANCELLED, reason="e"),
        ],
    )

    assert written.moved_on == []
    found = await make.rows(conn, "SELECT id, status, reason FROM mailqueue.emails")
    assert sorted(found) == sorted(
        [
            (a.id, "sent", None),
            (b.id, "failed", "b"),
            (c.id, "pending", "c"),
            (d.id, "pending", "d"),
            (e.id, "cancelled", "e"),
        ]
    )
    assert await difference(conn) == 0


async def test_a_worker_frozen_while_it_settles_does_not_keep_its_locks(
    database: DatabaseSettings,
) -> None:
    """NoIoInTx: without several recipients, settling is a single statement."""
    async with opened(database, 2) as (worker_conn, observer):
        await make.sender_account(observer)
        await make.queued_email(observer, cc=["cy@example.com"])
        taken = await claim(worker_conn, await make.worker(observer))

        async with worker_conn.transaction(force_rollback=True):
            await settle(worker_conn, taken, spent=2, recipients=(TAKEN,))
            limit = "SELECT current_setting('idle_in_transaction_session_timeout')"
            assert await make.scalar(worker_conn, limit) == "10s"
        assert await make.scalar(worker_conn, limit) == "0"
