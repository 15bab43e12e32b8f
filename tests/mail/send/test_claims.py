"""Mail claimed in a commit whose response was lost is sent by the worker that claimed it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from itertools import count
from typing import Any

import pytest
from psycopg import OperationalError

from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.mail.model import MarkVerdict
from mailqueue.mail.send.claims import Claims
from mailqueue.mail.send.store import claims as claims_store
from mailqueue.mail.send.store.claims import Taken
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.steps import LEASE, opened, until_waiting

pytestmark = pytest.mark.anyio


def lose_answer(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Break the connection after the commit of the claim of this number, before its answer."""
    genuine, calls = claims_store.take, count(1)

    async def take(*given: Any, **named: Any) -> Taken:
        taken = await genuine(*given, **named)
        if next(calls) == number:
            raise OperationalError("server closed the connection unexpectedly")
        return taken

    monkeypatch.setattr(claims_store, "take", take)


@asynccontextmanager
async def claims(
    database: DatabaseSettings, *, emails: int
) -> AsyncIterator[Callable[[], Awaitable[list[str]]]]:
    """Queue emails; yield a function that claims up to three and returns their recipients."""
    link = Link(database, "test/claim")
    async with opened(database, 1) as (conn,):
        await make.sender_account(conn)
        asking = Claims(await make.worker(conn), limit=3, lease=LEASE)
        await make.queued_emails(conn, emails)

        async def take() -> list[str]:
            await link.call(claims_store.gather_lanes)
            taken = await link.call(partial(asking.take, avoid=()))
            return [email.recipient_email for email in taken.emails]

        try:
            yield take
        finally:
            await link.close()


async def test_a_claim_whose_answer_was_lost_is_found_again(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    lose_answer(monkeypatch, 2)
    async with claims(database, emails=9) as take:
        batches = [await take() for _ in range(4)]

        assert [len(batch) for batch in batches] == [3, 3, 3, 0]
        assert len(set().union(*batches)) == 9


async def test_what_is_known_already_is_not_given_twice(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mail of the first claim is still being sent when the response to the next is lost."""
    lose_answer(monkeypatch, 2)
    async with claims(database, emails=3) as take:
        assert len(await take()) == 3
        assert await take() == []


async def test_a_claim_that_still_runs_is_waited_for(database: DatabaseSettings) -> None:
    """Its session may notice late that the client is gone."""
    async with opened(database, 3) as (cut_off, conn, watching):
        await make.sender_account(conn)
        worker = await make.worker(conn)
        await make.queued_emails(conn, 2)
        await claims_store.gather_lanes(conn)
        async with cut_off.transaction():
            await claims_store.claim(cut_off, worker, limit=5, lease=LEASE)
            finding = asyncio.create_task(claims_store.find_claims(conn, worker, after=0))
            await until_waiting(watching, conn)

        assert len(await finding) == 2


async def test_a_claim_reads_what_it_takes_and_says_whether_more_is_left(conn: Conn) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    await make.queued_emails(conn, 2)
    several = await make.queued_email(conn, cc=["cy@example.com"])
    await claims_store.gather_lanes(conn)

    first = await claims_store.take(conn, worker, limit=2, lease=LEASE)
    rest = await claims_store.take(conn, worker, limit=10, lease=LEASE)
    none = await claims_store.take(conn, worker, limit=10, lease=LEASE)

    assert [len(each.emails) for each in (first, rest, none)] == [2, 1, 0]
    assert [each.is_left for each in (first, rest, none)] == [True, False, False]
    for taken in (first, rest):
        assert taken.contents is not None
        assert {taken.contents[email.content_id].subject for email in taken.emails} == {"Hello"}
    assert [one.address for one in rest.recipients[several]] == [
        "ann@example.com",
        "cy@example.com",
    ]
    assert first.marks is None


async def test_content_that_mails_share_is_read_once(conn: Conn) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    await make.queued_emails(conn, 5)
    await conn.execute(
        "UPDATE mailqueue.email_queue SET content_id = (SELECT max(content_id)"
        " FROM mailqueue.email_queue)"
    )
    await claims_store.gather_lanes(conn)

    taken = await claims_store.take(conn, worker, limit=10, lease=LEASE)

    assert len(taken.emails) == 5
    assert taken.contents is not None
    assert list(taken.contents) == [taken.emails[0].content_id]


MARKED = "SELECT email_ids FROM mailqueue.send_intents WHERE worker_id = %s"


@pytest.mark.parametrize("count", [1, 2])
async def test_only_a_claim_of_one_mail_marks_it(conn: Conn, count: int) -> None:
    """Window: further mail would be marked before it has a slot."""
    await make.sender_account(conn)
    worker = await make.worker(conn)
    emails = await make.queued_emails(conn, count)
    await claims_store.gather_lanes(conn)

    taken = await claims_store.take(conn, worker, limit=10, lease=LEASE, may_mark=True)

    expected = emails if count == 1 else []
    assert await make.scalar(conn, MARKED, worker) == expected
    assert (taken.marks is not None) == (count == 1)


async def test_a_mail_that_unsubscribed_is_stopped_by_the_mark_of_its_claim(conn: Conn) -> None:
    """Suppress."""
    await make.sender_account(conn)
    worker = await make.worker(conn)
    email = await make.queued_email(conn)
    await conn.execute("INSERT INTO mailqueue.unsubscribe_list (email) VALUES ('ann@example.com')")
    await claims_store.gather_lanes(conn)

    taken = await claims_store.take(conn, worker, limit=10, lease=LEASE, may_mark=True)

    assert taken.marks is not None
    assert taken.marks.of(email).verdict is MarkVerdict.SUPPRESSED


async def test_of_many_accounts_a_claim_locks_the_first_and_finds_one_behind_them(
    database: DatabaseSettings,
) -> None:
    async with opened(database, 2) as (conn, other):
        accounts = [await make.sender_account(conn, name=f"a{n}", priority=n) for n in range(40)]
        worker = await make.worker(conn)
        await make.queued_emails(conn, 3)
        await claims_store.gather_lanes(conn)
        lock = (
            "SELECT count(*) FROM (SELECT FROM mailqueue.limits"
            " WHERE sender_account_id IS NOT NULL FOR NO KEY UPDATE SKIP LOCKED) AS free"
        )
        async with conn.transaction():
            taken = await claims_store.take(conn, worker, limit=1, lease=LEASE)
            assert await make.scalar(other, lock) == 32
        assert taken.emails[0].assigned_to == accounts[0]

        await conn.execute(
            "UPDATE mailqueue.sender_accounts SET status = 'paused' WHERE id = ANY (%s)",
            (accounts[:-1],),
        )
        await claims_store.gather_lanes(conn)
        behind = await claims_store.take(conn, worker, limit=1, lease=LEASE)
        assert [email.assigned_to for email in behind.emails] == [accounts[-1]]
