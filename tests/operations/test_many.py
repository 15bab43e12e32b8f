"""Operations on all mail that matches a filter, as SQL functions."""

import pytest
from psycopg import errors
from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending, MarkVerdict
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.steps import claim, mark, opened
from tests.operations.steps import audit, finished, matching

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("verb", ["hold", "release", "cancel", "requeue", "resend"])
async def test_a_dry_run_counts_and_changes_nothing(conn: Conn, verb: str) -> None:
    await make.sender_account(conn)
    await finished(conn)
    await finished(conn, Ending.FAILED)
    held = await make.queued_email(conn)
    await matching(conn, "hold")
    await make.queued_email(conn)
    before = await audit(conn)

    assert await matching(conn, verb, "x", True) == (2 if verb == "cancel" else 1)

    assert await audit(conn) == before
    assert await make.status_of(conn, held) == "held"
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_queue") == 2


async def test_one_audit_row_says_who_did_what_to_how_many(conn: Conn) -> None:
    await make.queued_emails(conn, 3, campaign_id="spring")

    await matching(conn, "cancel", "recalled", campaign_id="spring")

    [(action, subject, detail)] = await audit(conn)
    assert (action, subject) == ("emails.cancelled", "project default")
    assert detail["filter"] == {"project": "default", "campaign_id": "spring"}
    assert (detail["emails"], detail["reason"]) == (3, "recalled")
    assert await make.scalar(conn, "SELECT actor = session_user FROM mailqueue.audit_events")


async def test_an_operation_goes_on_in_batches_and_counts_in_one_row(conn: Conn) -> None:
    await make.queued_emails(conn, 5)
    asked = Jsonb({"project": "default"})
    operation = await make.scalar(
        conn, "SELECT mailqueue.begin_operation('hold', %s, '{\"reason\": \"r\"}', 'ann')", asked
    )
    late = await make.queued_email(conn)
    await conn.execute(
        "UPDATE mailqueue.email_queue SET created_at = clock_timestamp() WHERE id = %s", (late,)
    )

    done, after = [], None
    while True:
        [(handled, after)] = await make.rows(
            conn, "SELECT * FROM mailqueue.continue_operation(%s, %s, 2)", operation, after
        )
        done.append(handled)
        if after is None:
            break

    assert done == [2, 2, 1]
    [(_, _, detail)] = await audit(conn)
    assert detail["emails"] == 5
    assert await make.status_of(conn, late) == "pending", "it came after the operation began"
    actor = await make.scalar(conn, "SELECT actor FROM mailqueue.audit_events")
    assert actor.endswith(" (ann)")


@pytest.mark.parametrize("most", [0, 10001, None])
async def test_a_transaction_holds_no_more_than_ten_thousand_rows(
    conn: Conn, most: int | None
) -> None:
    with pytest.raises(errors.InvalidParameterValue, match="most: 1 to 10000"):
        await matching(conn, "hold", "x", False, most)


async def test_what_a_worker_changes_at_this_moment_is_not_waited_for(
    database: DatabaseSettings,
) -> None:
    async with opened(database, 2) as (operator, worker):
        taken, free = await make.queued_emails(operator, 2)
        async with worker.transaction():
            await worker.execute(
                "SELECT FROM mailqueue.email_queue WHERE id = %s FOR NO KEY UPDATE", (taken,)
            )
            await operator.execute("SET lock_timeout = '5 s'")
            assert await matching(operator, "cancel") == 1
        assert await make.status_of(operator, free) == "cancelled"
        assert await matching(operator, "cancel") == 1, "the next pass finds it"


async def test_held_mail_that_matches_comes_back_and_is_claimed(conn: Conn) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    await make.queued_emails(conn, 2, campaign_id="spring")
    await matching(conn, "hold", campaign_id="spring")
    assert await claim(conn, worker) == []

    assert await matching(conn, "release", campaign_id="spring") == 2

    assert len(await claim(conn, worker)) == 2


async def test_assigned_mail_is_asked_to_stop_once(conn: Conn) -> None:
    await make.sender_account(conn)
    email = await make.queued_email(conn)
    worker = await make.worker(conn)
    taken = await claim(conn, worker)

    assert await matching(conn, "cancel") == 1
    assert await matching(conn, "cancel") == 0

    assert (await mark(conn, worker, taken))[email].verdict is MarkVerdict.CANCELLED


async def test_failed_mail_that_matches_is_queued_again_under_its_id(conn: Conn) -> None:
    await make.sender_account(conn)
    email = await finished(conn, Ending.FAILED, campaign_id="spring")

    assert await matching(conn, "requeue", campaign_id="summer") == 0
    assert await matching(conn, "requeue", campaign_id="spring") == 1

    assert await make.status_of(conn, email) == "pending"
