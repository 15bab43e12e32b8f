"""Paused mail waits without cost and is sent when the pause ends."""

import pytest
from psycopg import errors

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import MarkVerdict
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.steps import claim, counted, difference, mark, opened, row, sent
from tests.operations.pausing import HOUR, let_it_end, pause, resume, set_aside, verdict, why

pytestmark = pytest.mark.anyio


KINDS = [("campaign", "spring"), ("domain", "example.com"), ("domain", "Example.COM")]


@pytest.mark.parametrize(("kind", "name"), KINDS)
async def test_queued_mail_is_set_aside_and_only_that(conn: Conn, kind: str, name: str) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    paused = await make.queued_email(conn, campaign_id="spring")
    other = await make.queued_email(conn, campaign_id="summer", recipient_email="a@example.net")

    operation = await pause(conn, kind, name, reason="wrong price")

    assert await set_aside(conn, operation) == 1
    assert [each.id for each in await claim(conn, worker)] == [other]
    assert await why(conn, paused) == (
        f"{kind} {name.lower()} is paused until further notice: wrong price;"
        f" to resume it: mailqueue resume {kind} {name.lower()}"
    )


@pytest.mark.parametrize(("kind", "name"), KINDS)
async def test_mail_that_comes_later_is_stopped_once_before_it_is_handed_over(
    conn: Conn, kind: str, name: str
) -> None:
    account = await make.sender_account(conn, daily_limit=10)
    worker = await make.worker(conn)
    await pause(conn, kind, name)
    email = await make.queued_email(conn, campaign_id="spring")

    assert await verdict(conn, worker) is MarkVerdict.PAUSED

    assert await claim(conn, worker) == [], "it waits without being claimed over and over"
    assert (await counted(conn, account)).reserved == 0
    assert await row(conn, email, "status, attempts") == ("pending", 0)
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.send_logs") == 0


async def test_a_message_waits_while_one_of_its_recipients_has_a_paused_domain(conn: Conn) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    await make.queued_email(conn, cc=["bob@example.net"])
    await pause(conn, "domain", "example.net")

    assert await verdict(conn, worker) is MarkVerdict.PAUSED


async def test_mail_claimed_before_the_pause_is_stopped_too(conn: Conn) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    await make.queued_email(conn, campaign_id="spring")
    (taken,) = await claim(conn, worker)

    assert await set_aside(conn, await pause(conn, "campaign", "spring")) == 0

    assert (await mark(conn, worker, [taken]))[taken.id].verdict is MarkVerdict.PAUSED


async def test_it_comes_back_by_itself_when_the_time_is_over(conn: Conn) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    email = await make.queued_email(conn, campaign_id="spring")
    await set_aside(conn, await pause(conn, "campaign", "spring", wait=HOUR))
    assert await claim(conn, worker) == []

    await let_it_end(conn)

    assert await verdict(conn, worker) is MarkVerdict.GO
    assert await make.status_of(conn, email) == "assigned"
    assert await make.rows(conn, "SELECT * FROM mailqueue.paused") == []


async def test_resumed_mail_goes_on_and_keeps_its_place(conn: Conn) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    first, second = await make.queued_emails(conn, 2, campaign_id="spring")
    await conn.execute(
        "UPDATE mailqueue.email_queue SET run_at = run_at - interval '1 min' WHERE id = %s",
        (second,),
    )
    await set_aside(conn, await pause(conn, "campaign", "spring"))

    assert await resume(conn, "campaign", "spring")

    taken = [one for _ in range(2) for one in await claim(conn, worker, limit=1)]
    assert [each.id for each in taken] == [second, first]
    marks = await mark(conn, worker, taken)
    assert {each.verdict for each in marks.values()} == {MarkVerdict.GO}
    assert await sent(conn, taken) == []
    assert await difference(conn) == 0


async def test_the_longer_of_two_pauses_counts(conn: Conn) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    email = await make.queued_email(conn, campaign_id="spring")
    await set_aside(conn, await pause(conn, "campaign", "spring", wait=HOUR))
    await pause(conn, "domain", "example.com", wait=2 * HOUR, reason="they throttle us")

    await resume(conn, "campaign", "spring")

    assert await verdict(conn, worker) is MarkVerdict.PAUSED
    assert "domain example.com is paused until " in await why(conn, email)
    await resume(conn, "domain", "example.com")
    assert await verdict(conn, worker) is MarkVerdict.GO


async def test_mail_of_two_pauses_waits_for_the_longer_at_once(conn: Conn) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    await pause(conn, "campaign", "spring", wait=HOUR)
    await pause(conn, "domain", "example.com", wait=2 * HOUR)
    await make.queued_email(conn, campaign_id="spring")
    assert await verdict(conn, worker) is MarkVerdict.PAUSED

    await resume(conn, "campaign", "spring")

    assert await claim(conn, worker) == []


async def test_a_pause_given_anew_changes_its_end(conn: Conn) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    await make.queued_email(conn, campaign_id="spring")
    await set_aside(conn, await pause(conn, "campaign", "spring", wait=HOUR))
    await let_it_end(conn)
    await pause(conn, "campaign", "spring", wait=HOUR)

    assert await claim(conn, worker) == []


async def test_a_campaign_of_another_project_goes_on(conn: Conn) -> None:
    shop = await make.project(conn, "shop")
    await make.sender_account(conn, project_id=shop)
    worker = await make.worker(conn)
    email = await make.queued_email(conn, campaign_id="spring", project="shop")
    await pause(conn, "campaign", "spring")

    assert "paused" not in await why(conn, email)
    assert await verdict(conn, worker) is MarkVerdict.GO


async def test_a_pause_waits_for_a_claim_that_is_made_and_then_holds(
    database: DatabaseSettings,
) -> None:
    """A concurrent claim that opens or closes the lane must not undo the pause."""
    async with opened(database, 2) as (operator, claimer):
        await make.sender_account(operator)
        worker = await make.worker(operator)
        await make.queued_email(operator, campaign_id="spring")
        await set_aside(operator, await pause(operator, "campaign", "spring"))
        await resume(operator, "campaign", "spring")
        await claimer.execute("SELECT mailqueue.gather_lanes()")
        async with claimer.transaction():
            assert await claim(claimer, worker, limit=1)
            await operator.execute("SET lock_timeout = '100 ms'")
            with pytest.raises(errors.LockNotAvailable):
                await pause(operator, "campaign", "spring")
        await pause(operator, "campaign", "spring")

        blocked = await make.rows(
            operator,
            "SELECT DISTINCT blocked_reason FROM mailqueue.lanes WHERE pause_kind = 'campaign'",
        )
        assert blocked == [("set_aside",)]


async def test_a_project_has_a_bounded_number_of_paused_campaigns_and_domains(conn: Conn) -> None:
    """Those of other projects and those that are over do not count, nor does one anew."""
    await make.project(conn, "shop")
    await conn.execute(
        "INSERT INTO mailqueue.pauses (project_id, kind, value, until)"
        " SELECT p.id, 'campaign', 'no ' || n, CASE n WHEN 1 THEN now() ELSE 'infinity' END"
        " FROM mailqueue.projects AS p, generate_series(1, 1000) AS n WHERE p.name = 'default'"
    )
    await pause(conn, "campaign", "the last")
    await pause(conn, "campaign", "no 2", reason="anew")
    await conn.execute("SAVEPOINT before")
    with pytest.raises(errors.InvalidParameterValue, match="1000 campaigns and domains"):
        await pause(conn, "domain", "example.com")
    await conn.execute("ROLLBACK TO before")
    await conn.execute("SELECT mailqueue.pause_sending('domain', 'shop', 'example.com')")
