"""Limit: a rate per recipient domain, shared by all projects and workers, exact."""

import asyncio
from uuid import UUID

import pytest
from psycopg.errors import CheckViolation, InvalidParameterValue

from mailqueue.db.fetch import Conn
from mailqueue.mail.send.store import claims as claims_store
from mailqueue.queue import store as kernel
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.filling import fill
from tests.mail.claim.steps import LEASE, claim, opened, row, sent

pytestmark = pytest.mark.anyio
NOW = "SELECT extract(epoch FROM clock_timestamp())::float8"


async def rate(conn: Conn, per_second: float, *, burst: int = 1) -> None:
    """Limit the rate to example.com."""
    await conn.execute(
        "INSERT INTO mailqueue.domain_rates (domain, rate_per_second, burst)"
        " VALUES ('example.com', %s, %s) ON CONFLICT (domain) DO UPDATE"
        " SET rate_per_second = excluded.rate_per_second, burst = excluded.burst",
        (per_second, burst),
    )


async def taken(conn: Conn, worker: int, *, rounds: int = 4) -> list[UUID]:
    """Claim like a worker that is woken by NOTIFY."""
    found: list[UUID] = []
    for _ in range(rounds):
        found += [email.id for email in await claim(conn, worker)]
        await conn.execute(
            "UPDATE mailqueue.lanes SET blocked_until = now() WHERE blocked_reason = 'recheck'"
        )
    return found


async def test_mail_over_the_rate_waits_and_other_domains_do_not(conn: Conn) -> None:
    await make.sender_account(conn)
    await rate(conn, 0.001, burst=2)
    slow = await make.queued_emails(conn, 5)
    fast = await make.queued_emails(conn, 5, recipient_email="ann@example.org")
    worker = await make.worker(conn)

    got = await taken(conn, worker)

    assert set(fast) <= set(got)
    assert len(set(got) & set(slow)) == 2
    waiting = (set(slow) - set(got)).pop()
    assert await row(conn, waiting, "status, attempts") == ("pending", 0)


async def test_waiting_costs_no_attempt_and_touches_no_row(conn: Conn) -> None:
    """Flat."""
    await make.sender_account(conn)
    await rate(conn, 0.001)
    await make.queued_emails(conn, 20)
    worker = await make.worker(conn)
    await taken(conn, worker)
    query = "SELECT ctid::text, xmax::text FROM mailqueue.email_queue WHERE status = 'pending'"
    before = await make.rows(conn, query)
    assert len(before) == 19

    assert await taken(conn, worker) == []

    assert await make.rows(conn, query) == before


async def test_projects_share_the_rate(conn: Conn) -> None:
    await rate(conn, 0.001, burst=3)
    for _ in range(2):
        project = await make.project(conn)
        await make.sender_account(conn, project_id=project)
        await fill(conn, 10, project=project)
    worker = await make.worker(conn)

    assert len(await taken(conn, worker)) == 3


async def test_higher_priorities_go_first_at_a_slow_domain_too(conn: Conn) -> None:
    """Fair."""
    await make.sender_account(conn)
    await rate(conn, 0.001)
    await make.queued_emails(conn, 5)
    worker = await make.worker(conn)
    assert len(await taken(conn, worker)) == 1
    urgent = await make.queued_email(conn, priority=0)
    assert await taken(conn, worker) == []

    await conn.execute("UPDATE mailqueue.limit_counters SET tokens_at = tokens_at - interval '1 d'")
    await conn.execute(
        "UPDATE mailqueue.lanes SET blocked_until = now() WHERE blocked_reason = 'domain_rate'"
    )

    await make.highest_class_first(conn)
    assert await taken(conn, worker) == [urgent]


async def test_a_rate_taken_away_lets_all_go(conn: Conn) -> None:
    await make.sender_account(conn)
    await rate(conn, 0.001)
    ids = await make.queued_emails(conn, 9)
    worker = await make.worker(conn)
    first = await taken(conn, worker)

    await conn.execute("DELETE FROM mailqueue.domain_rates")

    assert sorted(first + await taken(conn, worker)) == sorted(ids)


async def test_a_raised_rate_holds_at_once(conn: Conn) -> None:
    await make.sender_account(conn)
    await rate(conn, 0.001)
    await make.queued_emails(conn, 9)
    worker = await make.worker(conn)
    assert len(await taken(conn, worker)) == 1

    await rate(conn, 1000, burst=1000)
    await asyncio.sleep(0.02)  # the bucket fills by the clock

    assert len(await taken(conn, worker)) == 8


async def test_subdomains_are_other_domains(conn: Conn) -> None:
    await make.sender_account(conn)
    await rate(conn, 0.001)
    await make.queued_emails(conn, 5, recipient_email="ann@sub.example.com")
    worker = await make.worker(conn)

    assert len(await taken(conn, worker)) == 5


async def test_the_case_of_an_address_does_not_matter(conn: Conn) -> None:
    await make.sender_account(conn)
    await rate(conn, 0.001)
    await make.queued_emails(conn, 5, recipient_email="Ann@Example.COM")
    worker = await make.worker(conn)

    assert len(await taken(conn, worker)) == 1


async def test_any_recipient_of_a_message_makes_it_wait(conn: Conn) -> None:
    await make.sender_account(conn)
    await rate(conn, 0.001)
    for _ in range(3):
        await make.queued_email(conn, recipient_email="a@example.org", cc=["b@example.com"])
    worker = await make.worker(conn)

    assert len(await taken(conn, worker)) == 1


async def test_mail_that_waits_keeps_its_account_and_is_settled_as_ever(conn: Conn) -> None:
    account = await make.sender_account(conn, name="mine")
    await make.sender_account(conn, name="other", priority=1)
    await rate(conn, 5)
    await make.queued_emails(conn, 2, sender="mine")
    worker = await make.worker(conn)
    await claim(conn, worker)

    (email,) = await claim(conn, worker)

    assert email.assigned_to == account
    assert await sent(conn, [email]) == []
    assert await make.status_of(conn, email.id) == "sent"


async def test_why_names_the_domain(conn: Conn) -> None:
    await make.sender_account(conn)
    await rate(conn, 0.001)
    ids = set(await make.queued_emails(conn, 2))
    worker = await make.worker(conn)
    waiting = (ids - set(await taken(conn, worker))).pop()

    said = await make.scalar(conn, "SELECT mailqueue.why(%s)", waiting)

    assert "mail to example.com waits until" in said
    assert "rate of this domain" in said
    assert await make.scalar(conn, "SELECT reason FROM mailqueue.queue_blocked") == (
        "mail to example.com is sent as fast as its rate allows"
    )


async def test_a_flood_for_a_slow_domain_passes_in_few_claims(conn: Conn) -> None:
    """Flat: a claim that finds only such mail continues, and notifies."""
    project = await make.project(conn)
    await make.sender_account(conn, project_id=project)
    await rate(conn, 0.001)
    await fill(conn, 2000, project=project)
    await make.queued_emails(conn, 1, recipient_email="late@example.org", project_id=project)
    worker = await make.worker(conn)

    rounds = 0
    while "late@example.org" not in [one.recipient_email for one in await claim(conn, worker)]:
        rounds += 1
        assert rounds < 10


async def test_every_change_of_a_rate_is_recorded(conn: Conn) -> None:
    await rate(conn, 5)
    await rate(conn, 8)
    await conn.execute("DELETE FROM mailqueue.domain_rates")

    assert await make.rows(
        conn,
        "SELECT subject, detail->>'rate_per_second' FROM mailqueue.audit_events"
        " WHERE action = 'domain.rate_changed' ORDER BY id",
    ) == [("domain example.com", rate) for rate in ("5", "8", None)]


@pytest.mark.parametrize("domain", ["Example.com", "ann@example.com", "", "a b"])
async def test_what_is_no_domain_is_refused(conn: Conn, domain: str) -> None:
    with pytest.raises(CheckViolation):
        await conn.execute(
            "INSERT INTO mailqueue.domain_rates (domain, rate_per_second) VALUES (%s, 1)", (domain,)
        )


async def test_a_rate_does_not_move_to_another_domain(conn: Conn) -> None:
    await rate(conn, 5)

    with pytest.raises(InvalidParameterValue, match="domain of a rate cannot be changed"):
        await conn.execute("UPDATE mailqueue.domain_rates SET domain = 'example.org'")


async def test_many_workers_together_keep_the_rate(database: DatabaseSettings) -> None:
    """In any period at most the burst and what the rate allowed meanwhile."""
    per_second, burst = 40, 5
    async with opened(database, 6) as conns:
        for _ in range(3):
            project = await make.project(conns[0])
            await make.sender_account(conns[0], project_id=project)
            await fill(conns[0], 200, project=project)
        await rate(conns[0], per_second, burst=burst)
        workers = [await make.worker(conns[0]) for _ in conns]
        begun = await make.scalar(conns[0], NOW)
        got: list[UUID] = []

        async def work(conn: Conn, worker: int) -> None:
            while len(got) < burst + per_second:
                await claims_store.gather_lanes(conn)
                some = await claims_store.claim(conn, worker, limit=20, lease=LEASE)
                got.extend(email.id for email in some)
                await asyncio.sleep(0 if some else 0.01)

        async with asyncio.timeout(60):
            await asyncio.gather(*map(work, conns, workers))

        assert len(got) == len(set(got))
        passed = await make.scalar(conns[0], NOW) - begun
        assert burst + per_second <= len(got) <= burst + per_second * passed


async def test_a_claim_that_only_moved_mail_wakes_who_sleeps(database: DatabaseSettings) -> None:
    async with opened(database, 2) as (conn, ear):
        await make.sender_account(conn)
        await rate(conn, 5)
        await make.queued_email(conn)
        worker = await make.worker(conn)
        await claims_store.gather_lanes(conn)
        await kernel.park(conn, "email_queue", worker)
        await ear.execute("LISTEN mailqueue_email_queue")

        assert await claims_store.claim(conn, worker, limit=5, lease=LEASE) == []

        rung = [one.channel async for one in ear.notifies(timeout=30, stop_after=1)]
        assert rung == ["mailqueue_email_queue"]
        assert len(await claim(conn, worker)) == 1
