"""Limit: a rate is spread over the second, with any number of workers and late claims."""

import random
from dataclasses import dataclass
from itertools import pairwise

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.mail.send.store import claims as claims_store
from tests import make
from tests.mail.claim.steps import LEASE, lane

pytestmark = pytest.mark.anyio
MAX_GAP_SECONDS = 0.2
"""Between two claims: after longer ones the rate of the time between is partly lost."""


async def pass_time(conn: Conn, seconds: float) -> None:
    """Have so much time pass for rates and for lanes that wait for one."""
    await conn.execute(
        "UPDATE mailqueue.limit_counters SET tokens_at = tokens_at - make_interval(secs => %s)",
        (seconds,),
    )
    await conn.execute(
        "UPDATE mailqueue.lanes SET blocked_until = blocked_until - make_interval(secs => %s)"
        " WHERE blocked_reason IN ('rate', 'domain_rate', 'recheck')",
        (seconds,),
    )


@dataclass(frozen=True, slots=True)
class PacedClaim:
    """One claim by the clock of the database, in seconds since 1970."""

    at: float
    waits: list[float]
    """For each mail the seconds after the claim at which it is to be sent."""


async def paced(conn: Conn, worker: int) -> PacedClaim:
    """Claim; rates are reckoned from the instant that is stored as that of the claim."""
    await claims_store.gather_lanes(conn)
    taken = await claims_store.take(conn, worker, limit=200, lease=LEASE)
    at = await make.scalar(
        conn,
        "SELECT extract(epoch FROM max(assigned_at))::float8 FROM mailqueue.email_queue"
        " WHERE id = ANY (%s)",
        [email.id for email in taken.emails],
    )
    at = taken.claimed_at if at is None else at
    return PacedClaim(at, [max(0.0, taken.send_at.get(one.id, 0.0) - at) for one in taken.emails])


async def waits(conn: Conn, worker: int) -> list[float]:
    """Claim, and return after how many seconds each mail is to be sent."""
    return (await paced(conn, worker)).waits


async def sent_over(conn: Conn, seconds: float, *, late: float) -> tuple[list[float], float]:
    """Claim for some seconds, each time up to `late` seconds late.

    Return when mail was sent, in seconds since the first claim, and for how many seconds claims
    came so late, on a busy machine, that the rate could not be used.
    """
    chance, workers = random.Random(7), [await make.worker(conn) for _ in range(3)]
    passed, last, unused, at = 0.0, 0.0, 0.0, list[float]()
    began_at: float | None = None
    while last < seconds:
        claim = await paced(conn, chance.choice(workers))
        began_at = claim.at if began_at is None else began_at
        now = claim.at - began_at + passed
        unused += max(0.0, now - last - MAX_GAP_SECONDS)
        last = now
        at += [now + wait for wait in claim.waits]
        step = 0.1 + chance.uniform(0, late)
        await pass_time(conn, step)
        passed += step
    return sorted(one for one in at if one < seconds), unused


def most_in_any_second(at: list[float]) -> int:
    return max(sum(1 for other in at if one <= other < one + 1) for one in at)


@pytest.mark.parametrize(
    ("rate", "burst"), [(40, 1), (40, 5), (100, 1), (100, 20), (14, None), (40, 40)]
)
async def test_any_second_has_at_most_burst_and_rate_and_all_seconds_the_rate(
    conn: Conn, rate: int, burst: int | None
) -> None:
    await make.sender_account(conn, rate_per_second=rate, burst=burst)
    await make.queued_emails(conn, 7 * rate)

    at, unused = await sent_over(conn, 6, late=0.1)

    assert most_in_any_second(at) <= rate + (burst or rate)
    after_burst = [one for one in at if 1 <= one < 6]
    assert 0.9 * rate * (5 - unused) <= len(after_burst) <= 1.1 * 5 * rate


async def test_mail_of_one_claim_is_sent_one_after_another(conn: Conn) -> None:
    await make.sender_account(conn, rate_per_second=40, burst=1)
    await make.queued_emails(conn, 50)
    worker = await make.worker(conn)
    await waits(conn, worker)
    await pass_time(conn, 0.2)

    held = [wait for wait in await waits(conn, worker) if wait > 0]

    assert len(held) > 3
    between = [later - one for one, later in pairwise(held)]
    assert between == pytest.approx([1 / 40] * len(between), rel=0.1)


async def test_after_a_pause_the_first_mail_is_sent_at_once(conn: Conn) -> None:
    await make.sender_account(conn, rate_per_second=40, burst=1)
    await pass_time(conn, 60)
    await make.queued_emails(conn, 50)

    first, second, *_ = await waits(conn, await make.worker(conn))

    assert first == 0
    assert second > 0.15


async def test_where_no_rate_holds_no_mail_is_held(conn: Conn) -> None:
    await make.sender_account(conn)
    await make.queued_emails(conn, 50)

    assert await waits(conn, await make.worker(conn)) == [0] * 50


async def test_the_slowest_rate_of_account_project_and_domain_holds(conn: Conn) -> None:
    await make.sender_account(conn, rate_per_second=1000)
    await conn.execute("UPDATE mailqueue.projects SET rate_per_second = 20 WHERE name = 'default'")
    await make.queued_emails(conn, 100)

    gaps = await waits(conn, await make.worker(conn))

    assert len(gaps) == 20
    assert gaps[-1] == pytest.approx(9 / 20, rel=0.1)


async def test_a_lane_whose_rate_a_claim_used_up_says_so(conn: Conn) -> None:
    """Why: it is not looked at in vain, and people see what it waits for."""
    await make.sender_account(conn, name="relay", rate_per_second=0.01, burst=1)
    *_, last = await make.queued_emails(conn, 9)
    worker = await make.worker(conn)

    assert len(await waits(conn, worker)) == 1

    assert await lane(conn) == (False, "rate")
    blocked = await make.rows(conn, "SELECT reason, due FROM mailqueue.queue_blocked")
    assert blocked == [("it is sent as fast as the rate allows", 8)]
    assert "its rate is used up" in await make.scalar(conn, "SELECT mailqueue.why(%s)", last)


async def test_why_names_the_rate_of_mail_that_waits_for_its_turn(conn: Conn) -> None:
    await make.sender_account(conn, name="relay", rate_per_second=40)
    *_, last = await make.queued_emails(conn, 9)
    await make.worker(conn)

    said = await make.scalar(conn, "SELECT mailqueue.why(%s)", last)

    assert "; sender account relay sends to at most 40 recipients a second; to move it" in said
