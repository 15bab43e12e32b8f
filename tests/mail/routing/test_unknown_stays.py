"""Mail with unknown outcome stays with its account, unless its project allows another."""

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending, LogStatus, MarkVerdict
from tests import make
from tests.mail.claim.steps import claim, difference, due_now, lose, mark, settle

pytestmark = pytest.mark.anyio

ALLOW = "SELECT mailqueue.change_project('default', '{\"resend_elsewhere\": true}', 'test')"


async def accounts(conn: Conn) -> tuple[int, int]:
    first = await make.sender_account(conn, name="main", priority=1)
    return first, await make.sender_account(conn, name="spare", priority=2)


async def paused(conn: Conn, account: int) -> None:
    await conn.execute(
        "UPDATE mailqueue.sender_accounts SET status = 'paused' WHERE id = %s", (account,)
    )


async def unanswered(conn: Conn, worker: int) -> None:
    """Hand over due mail without a reply."""
    await due_now(conn)
    taken = await claim(conn, worker)
    assert taken
    await settle(conn, taken, Ending.UNKNOWN, reason="silence", spent=1, log=LogStatus.UNKNOWN)


async def taken_by(conn: Conn, worker: int) -> list[int]:
    await due_now(conn)
    return [one.assigned_to for one in await claim(conn, worker)]


async def why(conn: Conn, email: object) -> str:
    return str(await make.scalar(conn, "SELECT mailqueue.why(%s)", email))


async def test_while_its_account_is_away_no_other_sends_it(conn: Conn) -> None:
    first, _ = await accounts(conn)
    email = await make.queued_email(conn, delivery="resend")
    worker = await make.worker(conn)
    await unanswered(conn, worker)
    await paused(conn, first)

    assert await taken_by(conn, worker) == []
    said = await why(conn, email)
    assert said.startswith("handed over to sender account main without an answer, it stays with it")
    assert "sender account main waits" in said

    await conn.execute("UPDATE mailqueue.sender_accounts SET status = 'active'")
    assert await taken_by(conn, worker) == [first]
    assert await difference(conn) == 0


async def test_a_lost_workers_mail_stays_with_its_account_too(conn: Conn) -> None:
    first, second = await accounts(conn)
    marked = await make.queued_email(conn, delivery="resend")
    worker = await make.worker(conn)
    await mark(conn, worker, await claim(conn, worker))
    plain = await make.queued_email(conn, delivery="resend")
    await due_now(conn)
    await claim(conn, worker)
    await lose(conn, worker)
    await paused(conn, first)
    await due_now(conn)

    by = {one.id: one.assigned_to for one in await claim(conn, await make.worker(conn))}

    assert by == {plain: second}
    assert "stays with it" in await why(conn, marked)


async def test_it_stays_however_the_second_time_ends(conn: Conn) -> None:
    """A second refusal proves nothing about the first attempt."""
    first, _ = await accounts(conn)
    await make.queued_email(conn, delivery="resend")
    worker = await make.worker(conn)
    await unanswered(conn, worker)
    for ending in (Ending.RETRY, Ending.DEFER, Ending.RETRY):
        await due_now(conn)
        (again,) = await claim(conn, worker)
        assert again.assigned_to == first
        await settle(conn, [again], ending, reason="450 not now", log=LogStatus.DEFERRED)
    await paused(conn, first)

    assert await taken_by(conn, worker) == []


async def test_held_mail_that_is_released_stays_too(conn: Conn) -> None:
    first, _ = await accounts(conn)
    email = await make.queued_email(conn, delivery="hold")
    worker = await make.worker(conn)
    await unanswered(conn, worker)
    assert await make.status_of(conn, email) == "held"
    await paused(conn, first)
    project = await make.project_named(conn)

    await conn.execute("SELECT mailqueue.release_emails(%s, %s)", (project, [email]))

    assert await taken_by(conn, worker) == []


async def test_it_waits_with_its_paused_campaign_and_comes_back_to_its_account(
    conn: Conn,
) -> None:
    first, _ = await accounts(conn)
    await make.queued_email(conn, delivery="resend", campaign_id="spring")
    worker = await make.worker(conn)
    await unanswered(conn, worker)
    operation = await make.scalar(
        conn, "SELECT mailqueue.pause_sending('campaign', 'default', 'spring')"
    )
    await conn.execute("SELECT mailqueue.continue_operation(%s, NULL, 100)", (operation,))
    await conn.execute("SELECT mailqueue.resume_sending('campaign', 'default', 'spring')")
    await paused(conn, first)

    assert await taken_by(conn, worker) == []


async def test_mail_to_a_domain_that_has_a_rate_stays_too(conn: Conn) -> None:
    first, _ = await accounts(conn)
    await conn.execute(
        "INSERT INTO mailqueue.domain_rates (domain, rate_per_second, burst)"
        " VALUES ('example.com', 1000, 1000)"
    )
    await make.queued_email(conn, delivery="resend")
    worker = await make.worker(conn)
    assert await taken_by(conn, worker) == []  # it moves to the lane of its domain
    await unanswered(conn, worker)
    await paused(conn, first)

    for _ in range(2):
        assert await taken_by(conn, worker) == []


async def test_where_the_project_allows_it_another_account_sends_it(conn: Conn) -> None:
    first, second = await accounts(conn)
    await conn.execute(ALLOW)
    email = await make.queued_email(conn, delivery="resend")
    worker = await make.worker(conn)
    await unanswered(conn, worker)
    assert "stays with it" not in await why(conn, email)
    await paused(conn, first)

    assert await taken_by(conn, worker) == [second]


async def test_other_projects_go_on_as_they_are(conn: Conn) -> None:
    await make.project(conn, name="other")
    await conn.execute("SELECT mailqueue.change_project('other', '{\"resend_elsewhere\": true}')")

    await test_while_its_account_is_away_no_other_sends_it(conn)


async def test_when_the_account_stays_away_until_expiry_the_outcome_says_unknown(
    conn: Conn,
) -> None:
    first, _ = await accounts(conn)
    email = await make.queued_email(conn, delivery="resend")
    other = await make.queued_email(conn, delivery="resend")
    worker = await make.worker(conn)
    await unanswered(conn, worker)
    await paused(conn, first)
    expire = "UPDATE mailqueue.email_queue SET expires_at = now() - interval '1 s' WHERE id = %s"
    await conn.execute(expire, (email,))

    await conn.execute("SELECT mailqueue.rescue_emails(interval '30 s')")

    assert await make.status_of(conn, email) == "expired"
    assert await make.status_of(conn, other) == "pending"
    assert "outcome_unknown: it was handed over to sender account main" in await why(conn, email)
    assert await difference(conn) == 0


async def test_mail_that_expires_when_its_account_is_back_says_unknown_as_well(conn: Conn) -> None:
    await accounts(conn)
    email = await make.queued_email(conn, delivery="resend")
    worker = await make.worker(conn)
    await unanswered(conn, worker)
    await due_now(conn)
    (again,) = await claim(conn, worker)
    expire = "UPDATE mailqueue.email_queue SET expires_at = now() + interval '1 s' WHERE id = %s"
    await conn.execute(expire, (email,))
    await settle(conn, [again], Ending.RETRY, reason="450 not now", log=LogStatus.DEFERRED)

    assert await make.status_of(conn, email) == "expired"
    assert "outcome_unknown: the next attempt would be after it expires: 450 not now" in await why(
        conn, email
    )


async def test_a_mark_that_finds_it_expired_is_told_so(conn: Conn) -> None:
    await accounts(conn)
    email = await make.queued_email(conn, delivery="resend")
    worker = await make.worker(conn)
    await unanswered(conn, worker)
    await due_now(conn)
    taken = await claim(conn, worker)
    await conn.execute("UPDATE mailqueue.email_queue SET expires_at = now() - interval '1 s'")

    assert (await mark(conn, worker, taken))[email].verdict is MarkVerdict.EXPIRED
    assert [one.unknowns for one in taken] == [1]


async def test_mail_whose_account_is_removed_is_held_for_a_person(conn: Conn) -> None:
    first, second = await accounts(conn)
    email = await make.queued_email(conn, delivery="resend")
    worker = await make.worker(conn)
    await unanswered(conn, worker)
    plain = await make.queued_email(conn, sender="main")
    project = await make.project_named(conn)

    await conn.execute("SELECT mailqueue.remove_sender(%s, %s, 'test')", (project, first))

    assert await make.status_of(conn, email) == "held"
    assert "that account was removed" in await why(conn, email)
    await due_now(conn)
    assert {one.id: one.assigned_to for one in await claim(conn, worker)} == {plain: second}


async def test_test_mail_stays_in_the_lane_of_test_mail(conn: Conn) -> None:
    """In the lane of its trap account it would count against the project."""
    await make.sender_account(conn, provider="trap", name="trap")
    email = await make.queued_email(conn, delivery="resend", sender="(test)")
    worker = await make.worker(conn)
    await unanswered(conn, worker)

    route = (
        "SELECT l.route FROM mailqueue.email_queue AS q"
        " JOIN mailqueue.lanes AS l ON l.id = q.lane_id WHERE q.id = %s"
    )
    assert await make.scalar(conn, route, email) == "(test)"
