"""Circuit: an account with failures of its own waits, and one mail at a time probes it."""

import asyncio
from collections.abc import Sequence
from uuid import uuid4

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import ClaimedEmail, Ending, LogStatus
from mailqueue.mail.send.store import claims as claims_store
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.steps import (
    claim,
    counted,
    difference,
    lane,
    lose,
    mark,
    opened,
    rest_is_over,
    sent,
    settle,
)

pytestmark = pytest.mark.anyio


async def fail(conn: Conn, account: int, count: int, *, domains: int | None = None) -> None:
    """Report failures of the account, of mail to that many domains."""
    places = [f"d{n % (domains or count)}.example" for n in range(count)]
    await claims_store.report_failures(
        conn,
        account,
        kinds=["infrastructure"] * count,
        domains=places,
        details=["554 5.7.1 listed"] * count,
    )


async def circuit(conn: Conn, account: int) -> str:
    asked = "SELECT circuit FROM mailqueue.sender_health WHERE sender_account_id = %s"
    return str(await make.scalar(conn, asked, account))


async def half_opened(conn: Conn, *, mails: int = 5) -> tuple[int, int]:
    """Create an account with a half-open circuit and mail; return it and a worker."""
    account = await make.sender_account(conn, name="main")
    await make.queued_emails(conn, mails)
    await fail(conn, account, 20)
    await rest_is_over(conn)
    assert await circuit(conn, account) == "half_open"
    return account, await make.worker(conn)


async def waits(conn: Conn, account: int) -> float:
    asked = (
        "SELECT extract(epoch FROM blocked_until - clock_timestamp())::float8"
        " FROM mailqueue.limits WHERE sender_account_id = %s"
    )
    return float(await make.scalar(conn, asked, account))


async def actions(conn: Conn) -> list[str]:
    found = await make.rows(conn, "SELECT action FROM mailqueue.audit_events ORDER BY id")
    return [row[0] for row in found if row[0].startswith("sender.")]


async def test_failures_at_twenty_domains_open_the_circuit(conn: Conn) -> None:
    account = await make.sender_account(conn, name="main")
    email = await make.queued_email(conn)

    await fail(conn, account, 20)

    assert await circuit(conn, account) == "open"
    assert 25 < await waits(conn, account) <= 30
    assert await claim(conn, await make.worker(conn)) == []
    assert await lane(conn) == (False, "circuit")
    why = await make.scalar(conn, "SELECT mailqueue.why(%s)", email)
    assert "main" in why
    assert "circuit is open" in why
    assert await actions(conn) == ["sender.circuit_opened"]


async def test_the_servers_of_few_recipients_never_stop_an_account(conn: Conn) -> None:
    """Suppress."""
    account = await make.sender_account(conn)

    await fail(conn, account, 400, domains=19)

    assert await circuit(conn, account) == "closed"


async def test_failures_among_more_mail_that_was_sent_open_nothing(conn: Conn) -> None:
    account = await make.sender_account(conn)
    await make.queued_emails(conn, 21)
    worker = await make.worker(conn)
    await fail(conn, account, 1)
    await sent(conn, await claim(conn, worker))

    await fail(conn, account, 20)
    assert await circuit(conn, account) == "open"  # 21 failed, 21 were sent

    await conn.execute("UPDATE mailqueue.sender_accounts SET notes = 'x' WHERE id = %s", (account,))
    assert await circuit(conn, account) == "closed"
    await fail(conn, account, 1)
    await make.queued_emails(conn, 22)
    await sent(conn, await claim(conn, worker))
    await fail(conn, account, 20)

    assert await circuit(conn, account) == "closed"


async def test_one_mail_probes_a_half_open_circuit(conn: Conn) -> None:
    _, worker = await half_opened(conn)

    assert len(await claim(conn, worker)) == 1

    await rest_is_over(conn)
    assert await claim(conn, worker) == []
    assert await claim(conn, await make.worker(conn)) == []
    assert await lane(conn) == (False, "half_open")


async def test_one_message_to_many_is_one_probe(conn: Conn) -> None:
    account, worker = await half_opened(conn, mails=0)
    for _ in range(2):
        await make.queued_email(conn, also_to=[f"p{n}@example.com" for n in range(5)])

    assert [email.recipients for email in await claim(conn, worker)] == [6]
    assert (await counted(conn, account)).reserved == 6


async def test_a_probe_that_is_sent_closes_the_circuit(conn: Conn) -> None:
    account, worker = await half_opened(conn)

    await sent(conn, await claim(conn, worker))

    assert await circuit(conn, account) == "closed"
    await rest_is_over(conn)
    assert len(await claim(conn, worker)) == 4
    assert await actions(conn) == ["sender.circuit_opened", "sender.circuit_closed"]
    await fail(conn, account, 1)  # those of before count no more
    assert await circuit(conn, account) == "closed"


async def test_a_probe_that_fails_opens_it_for_longer(conn: Conn) -> None:
    account, worker = await half_opened(conn)
    probe = await claim(conn, worker)

    await settle(conn, probe, Ending.RETRY, reason="554 listed", log=LogStatus.DEFERRED)
    await fail(conn, account, 1)

    assert await circuit(conn, account) == "open"
    assert 55 < await waits(conn, account) <= 60


@pytest.mark.parametrize("ending", [Ending.RETRY, Ending.FAILED, Ending.DEFER])
async def test_a_probe_that_says_nothing_of_the_account_is_followed_by_another(
    conn: Conn, ending: Ending
) -> None:
    account, worker = await half_opened(conn)
    probe = await claim(conn, worker)

    await settle(conn, probe, ending, reason="450 try again later", log=LogStatus.DEFERRED)

    assert await circuit(conn, account) == "half_open"
    assert await claim(conn, worker) == []  # its news may be on the way
    await rest_is_over(conn)
    assert len(await claim(conn, worker)) == 1


async def test_a_probe_whose_worker_is_lost_decides_nothing(conn: Conn) -> None:
    account, worker = await half_opened(conn)
    probe = await claim(conn, worker)
    await mark(conn, worker, probe)

    await lose(conn, worker)

    assert await circuit(conn, account) == "half_open"
    await rest_is_over(conn)
    assert len(await claim(conn, await make.worker(conn))) == 1


async def test_a_probe_of_unknown_fate_closes_nothing(conn: Conn) -> None:
    account, worker = await half_opened(conn)
    probe = await claim(conn, worker)

    await settle(conn, probe, Ending.UNKNOWN, spent=1, reason="silence", log=LogStatus.UNKNOWN)

    assert await circuit(conn, account) == "half_open"


async def test_mail_that_hangs_since_before_keeps_no_probe_from_going(conn: Conn) -> None:
    account = await make.sender_account(conn)
    await make.queued_emails(conn, 3)
    worker = await make.worker(conn)
    hanging = await claim(conn, worker, limit=2)
    await claims_store.rest_sender(conn, account, "no answer")
    await rest_is_over(conn)

    assert len(await claim(conn, worker)) == 1
    await sent(conn, hanging)  # says nothing of now

    assert await circuit(conn, account) == "half_open"


async def test_what_is_settled_while_it_is_open_decides_nothing(conn: Conn) -> None:
    account = await make.sender_account(conn)
    await make.queued_emails(conn, 3)
    before = await claim(conn, await make.worker(conn))
    await fail(conn, account, 20)

    await sent(conn, before)

    assert await circuit(conn, account) == "open"


async def test_a_connection_alone_closes_no_circuit_that_mails_opened(conn: Conn) -> None:
    account, _ = await half_opened(conn)

    await claims_store.sender_answered(conn, account)

    assert await circuit(conn, account) == "half_open"


async def test_after_a_rest_one_mail_goes_first(conn: Conn) -> None:
    account = await make.sender_account(conn)
    await make.queued_emails(conn, 3)
    worker = await make.worker(conn)
    await claims_store.rest_sender(conn, account, "connection refused")
    await rest_is_over(conn)

    assert len(await claim(conn, worker)) == 1
    await claims_store.sender_answered(conn, account)
    await rest_is_over(conn)
    assert len(await claim(conn, worker)) == 2


async def test_what_is_left_takes_the_next_account_beside_the_probe(conn: Conn) -> None:
    first, worker = await half_opened(conn)
    second = await make.sender_account(conn, priority=200)

    taken = await claim(conn, worker)

    assert sorted(email.assigned_to for email in taken) == [first, second, second, second, second]


async def test_the_trap_is_no_way_out_of_an_open_circuit(conn: Conn) -> None:
    account, worker = await half_opened(conn)
    await make.sender_account(conn, provider="trap", name="trap", priority=1)

    assert [email.assigned_to for email in await claim(conn, worker)] == [account]


async def test_many_workers_let_one_probe_through_at_a_time(database: DatabaseSettings) -> None:
    """Circuit, Limit, Books."""
    async with opened(database, 6) as (conn, *workers):
        account = await make.sender_account(conn, daily_limit=40)
        await make.queued_emails(conn, 60)
        await fail(conn, account, 20)
        await rest_is_over(conn)
        out: set[object] = set()
        most = 0

        async def work(each: Conn) -> None:
            nonlocal most
            worker = await make.worker(each)
            for _ in range(12):
                taken: Sequence[ClaimedEmail] = await claim(each, worker)
                if not taken:
                    await rest_is_over(each)
                    continue
                token = uuid4()
                out.update((token, n) for n in range(len(taken)))
                most = max(most, len(out))
                await asyncio.sleep(0)
                out.difference_update([(token, n) for n in range(len(taken))])
                if worker % 2:
                    await settle(each, taken, Ending.DEFER, reason="r")
                else:
                    await lose(each, worker)
                    worker = await make.worker(each)

        async with asyncio.TaskGroup() as group:
            for each in workers:
                group.create_task(work(each))

        assert most == 1
        assert (await counted(conn, account)).reserved == 0
        assert await difference(conn) == 0
