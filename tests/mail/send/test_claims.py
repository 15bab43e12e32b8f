"""Mail that was claimed in a commit whose answer got lost is sent by the worker that has it."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import ClaimedEmail
from mailqueue.mail.send.claims import Claims
from mailqueue.mail.send.store import claims as claims_store
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.queue.acting import LEASE, opened, until_waiting

pytestmark = pytest.mark.anyio
Operation = Callable[[Conn], Awaitable[list[ClaimedEmail]]]


class Forgetful:
    """Loses the answers of the calls named, as a broken connection does; then tries again."""

    def __init__(self, conn: Conn, *lost: int) -> None:
        self._conn, self._lost, self._calls = conn, lost, 0

    async def call(self, operation: Operation) -> list[ClaimedEmail]:
        self._calls += 1
        if self._calls in self._lost:
            await operation(self._conn)
        return await operation(self._conn)


async def claims(conn: Conn, *lost: int, limit: int = 3) -> Claims:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    return Claims(Forgetful(conn, *lost), worker, limit=limit, lease=LEASE)


async def taken(conn: Conn, claims: Claims) -> list[str]:
    await claims_store.gather_lanes(conn)
    return [email.recipient_email for email in await claims.take(avoid=())]


async def test_a_claim_whose_answer_was_lost_is_found_again(database: DatabaseSettings) -> None:
    async with opened(database, 1) as (conn,):
        asking = await claims(conn, 2)
        await make.queued_emails(conn, 9)

        batches = [await taken(conn, asking) for _ in range(4)]

        assert [len(batch) for batch in batches] == [3, 3, 3, 0]
        assert len(set().union(*batches)) == 9


async def test_what_is_known_already_is_not_given_twice(database: DatabaseSettings) -> None:
    """The mail of the first claim is still being sent when the answer to the next is lost."""
    async with opened(database, 1) as (conn,):
        asking = await claims(conn, 2)
        await make.queued_emails(conn, 3)

        assert len(await taken(conn, asking)) == 3
        assert await taken(conn, asking) == []


async def test_a_claim_that_still_runs_is_waited_for(database: DatabaseSettings) -> None:
    """Its session may notice late that nobody listens."""
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
