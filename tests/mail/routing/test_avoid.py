"""Accounts whose servers hang for one worker: it leaves their mail to other workers."""

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import ClaimedEmail
from mailqueue.mail.send.store import claims as claims_store
from tests import make
from tests.mail.claim.steps import LEASE, are_lanes_ready

pytestmark = pytest.mark.anyio


async def two_projects(conn: Conn, count: int) -> tuple[int, int]:
    """Queue that many mails for each of two accounts."""
    accounts = []
    for name in ("hangs", "well"):
        project = await make.project(conn, name)
        accounts.append(await make.sender_account(conn, project_id=project))
        await make.queued_emails(conn, count, project_id=project, project=None)
    await claims_store.gather_lanes(conn)
    return accounts[0], accounts[1]


async def claim_but(conn: Conn, worker: int, *avoid: int, limit: int) -> list[ClaimedEmail]:
    return await claims_store.claim(conn, worker, limit=limit, lease=LEASE, avoid=avoid)


async def test_mail_of_an_account_to_avoid_is_left_to_others(conn: Conn) -> None:
    hangs, well = await two_projects(conn, 4)
    worker, other = await make.worker(conn), await make.worker(conn)

    mine = await claim_but(conn, worker, hangs, limit=100)
    theirs = await claim_but(conn, other, limit=100)

    assert [email.assigned_to for email in mine] == [well] * 4
    assert [email.assigned_to for email in theirs] == [hangs] * 4


async def test_an_account_to_avoid_holds_up_no_turns(conn: Conn) -> None:
    """Otherwise its lane would stay first forever, and each claim would skip its rows."""
    hangs, _ = await two_projects(conn, 40)
    worker = await make.worker(conn)

    for _ in range(4):
        assert len(await claim_but(conn, worker, hangs, limit=10)) == 10

    moved_on = "SELECT count(*) FROM mailqueue.lanes WHERE vtime > 0 AND blocked_until IS NULL"
    assert await make.scalar(conn, moved_on) == 2


async def test_what_one_account_cannot_send_now_another_of_its_project_does(conn: Conn) -> None:
    hangs = await make.sender_account(conn)
    well = await make.sender_account(conn, name="well")
    await make.queued_emails(conn, 3)
    await claims_store.gather_lanes(conn)
    worker = await make.worker(conn)

    claimed = await claim_but(conn, worker, hangs, limit=10)

    assert [email.assigned_to for email in claimed] == [well] * 3


async def test_nothing_is_ready_where_all_that_is_left_is_to_be_avoided(conn: Conn) -> None:
    hangs, well = await two_projects(conn, 1)
    worker = await make.worker(conn)
    assert await are_lanes_ready(conn, avoid=[hangs])

    await claim_but(conn, worker, hangs, limit=10)

    assert not await are_lanes_ready(conn, avoid=[hangs])
    assert await are_lanes_ready(conn, avoid=[well])


async def test_mail_without_a_sender_is_told_so_whatever_is_avoided(conn: Conn) -> None:
    await make.queued_email(conn)
    await claims_store.gather_lanes(conn)
    worker = await make.worker(conn)

    assert await claim_but(conn, worker, 1, limit=10) == []

    told = "SELECT count(*) FROM mailqueue.lanes WHERE blocked_reason = 'no_sender'"
    assert await make.scalar(conn, told) == 1


async def test_many_projects_whose_first_account_hangs_hold_up_no_others(conn: Conn) -> None:
    """Their second accounts are not avoided, and a claim examines eight lanes first."""
    hanging = []
    for number in range(8):
        project = await make.project(conn, f"hangs-{number}")
        hanging.append(await make.sender_account(conn, project_id=project, priority=0))
        await make.sender_account(conn, project_id=project, is_fallback=True)
        await make.queued_emails(conn, 2, project_id=project, project=None)
    well = await make.project(conn, "well")
    await make.sender_account(conn, project_id=well)
    await make.queued_emails(conn, 50, project_id=well, project=None)
    await claims_store.gather_lanes(conn)
    worker = await make.worker(conn)

    claimed = await claim_but(conn, worker, *hanging, limit=200)

    assert {email.project_id for email in claimed} == {well}
    assert len(claimed) == 50
    assert not await are_lanes_ready(conn, avoid=hanging)


async def test_an_avoided_account_keeps_its_turn(conn: Conn) -> None:
    """Another worker may use that account, and claims its mail in turn."""
    hangs, _ = await two_projects(conn, 60)
    worker, other = await make.worker(conn), await make.worker(conn)
    for _ in range(5):
        await claim_but(conn, worker, hangs, limit=4)

    claimed = await claim_but(conn, other, limit=20)

    assert sum(email.assigned_to == hangs for email in claimed) >= 8
