"""Mail refused temporarily by one account is tried by the next, unless it may have been sent."""

from uuid import UUID

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending, LogStatus
from tests import make
from tests.mail.claim.steps import claim, difference, due_now, sent, settle

pytestmark = pytest.mark.anyio


async def accounts(conn: Conn, count: int) -> list[int]:
    return [await make.sender_account(conn, priority=place) for place in range(count)]


async def tried_by(conn: Conn, worker: int, email: UUID, ending: Ending, log: LogStatus) -> int:
    """Attempt due mail with this outcome; return the account that attempted a mail."""
    await due_now(conn)
    taken = await claim(conn, worker)
    await settle(conn, taken, ending, reason="450 not now", log=log)
    (account,) = [one.assigned_to for one in taken if one.id == email]
    return account


async def test_each_candidate_tries_a_mail_that_is_refused_for_now(conn: Conn) -> None:
    first, second, third = await accounts(conn, 3)
    email = await make.queued_email(conn)
    worker = await make.worker(conn)

    tried = [
        await tried_by(conn, worker, email, Ending.RETRY, LogStatus.DEFERRED) for _ in range(4)
    ]

    assert tried == [first, second, third, first]
    asked = "SELECT kept_apart FROM mailqueue.queue_depth"
    assert str(await make.scalar(conn, asked)).startswith("refused by s-")
    await due_now(conn)
    await sent(conn, await claim(conn, worker))
    assert await difference(conn) == 0


async def test_other_mail_keeps_its_account(conn: Conn) -> None:
    first, second = await accounts(conn, 2)
    email = await make.queued_email(conn)
    worker = await make.worker(conn)
    await tried_by(conn, worker, email, Ending.RETRY, LogStatus.DEFERRED)
    await due_now(conn)
    other = await make.queued_email(conn)

    by = {one.id: one.assigned_to for one in await claim(conn, worker)}

    assert by == {email: second, other: first}


@pytest.mark.parametrize(
    ("ending", "log"), [(Ending.UNKNOWN, LogStatus.UNKNOWN), (Ending.DEFER, LogStatus.DEFERRED)]
)
async def test_only_what_was_surely_refused_goes_to_another(
    conn: Conn, ending: Ending, log: LogStatus
) -> None:
    first, _ = await accounts(conn, 2)
    email = await make.queued_email(conn, delivery="resend")
    worker = await make.worker(conn)

    assert await tried_by(conn, worker, email, ending, log) == first

    assert await tried_by(conn, worker, email, ending, log) == first


async def test_without_another_candidate_the_same_account_tries_again(conn: Conn) -> None:
    first, _ = await accounts(conn, 2)
    name = await make.scalar(
        conn, "SELECT name FROM mailqueue.sender_accounts WHERE id = %s", first
    )
    await make.sender_account(conn, provider="trap", name="trap")
    email = await make.queued_email(conn, sender=name)
    worker = await make.worker(conn)

    for _ in range(2):
        assert await tried_by(conn, worker, email, Ending.RETRY, LogStatus.DEFERRED) == first


async def test_where_the_next_one_may_not_send_the_others_do(conn: Conn) -> None:
    first, second = await accounts(conn, 2)
    email = await make.queued_email(conn)
    worker = await make.worker(conn)
    await tried_by(conn, worker, email, Ending.RETRY, LogStatus.DEFERRED)
    await conn.execute(
        "UPDATE mailqueue.sender_accounts SET status = 'paused' WHERE id = %s", (second,)
    )

    assert await tried_by(conn, worker, email, Ending.RETRY, LogStatus.DEFERRED) == first


async def test_accounts_that_come_later_have_their_turn(conn: Conn) -> None:
    first, second = await accounts(conn, 2)
    email = await make.queued_email(conn)
    worker = await make.worker(conn)
    assert await tried_by(conn, worker, email, Ending.RETRY, LogStatus.DEFERRED) == first
    third = await make.sender_account(conn, priority=1)

    tried = [
        await tried_by(conn, worker, email, Ending.RETRY, LogStatus.DEFERRED) for _ in range(3)
    ]

    assert sorted(tried[:2]) == sorted([second, third])
    assert tried[2] == first


async def test_by_a_rule_only_its_accounts_take_turns(conn: Conn) -> None:
    await accounts(conn, 1)
    for name in ("bulk", "spare"):
        await make.sender_account(conn, name=name)
    await conn.execute("SELECT mailqueue.add_route('default', '{bulk,spare}', p_tag => 'vip')")
    email = await make.queued_email(conn, tags=["vip"])
    worker = await make.worker(conn)
    tried = [
        await tried_by(conn, worker, email, Ending.RETRY, LogStatus.DEFERRED) for _ in range(3)
    ]

    assert tried[0] == tried[2]
    rows = await make.rows(
        conn, "SELECT name FROM mailqueue.sender_accounts WHERE id = ANY (%s) ORDER BY name", tried
    )
    assert rows == [("bulk",), ("spare",)]


async def test_refused_mail_waits_with_its_paused_campaign(conn: Conn) -> None:
    first, second = await accounts(conn, 2)
    email = await make.queued_email(conn, campaign_id="spring")
    worker = await make.worker(conn)
    assert await tried_by(conn, worker, email, Ending.RETRY, LogStatus.DEFERRED) == first
    pause = "SELECT mailqueue.pause_sending('campaign', 'default', 'spring')"
    operation = await make.scalar(conn, pause)
    await conn.execute("SELECT mailqueue.continue_operation(%s, NULL, 100)", (operation,))

    where = (
        "SELECT l.pause_kind FROM mailqueue.email_queue AS q"
        " JOIN mailqueue.lanes AS l ON l.id = q.lane_id WHERE q.id = %s"
    )
    assert await make.scalar(conn, where, email) == "campaign"

    await conn.execute("SELECT mailqueue.resume_sending('campaign', 'default', 'spring')")
    assert await tried_by(conn, worker, email, Ending.RETRY, LogStatus.DEFERRED) in (first, second)
