"""A lease has one holder, and ends with the holder's session."""

import asyncio

import pytest
from psycopg import errors

from mailqueue.core.errors import LeaseLost, Unavailable
from mailqueue.db import leases
from mailqueue.db.fetch import Conn
from mailqueue.db.leases import MARGIN_SECONDS, Holder, Lease
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.concurrency.running import until
from tests.mail.claim.steps import opened

pytestmark = pytest.mark.anyio

SOON = MARGIN_SECONDS + 0.3


async def taken(conn: Conn, worker: Conn | None = None) -> Lease:
    found = await leases.take(conn, "work", worker=worker or conn)
    assert isinstance(found, Lease)
    return found


async def is_free(conn: Conn) -> bool:
    return isinstance(await leases.take(conn, "work", worker=conn), Lease)


async def end(conn: Conn) -> None:
    await conn.execute("UPDATE mailqueue.leases SET lease_until = clock_timestamp()")


async def test_a_lease_has_one_holder_and_names_it(database: DatabaseSettings) -> None:
    async with opened(database, 2) as (one, two):
        async with leases.held(one, await taken(one)):
            found = await leases.take(two, "work", worker=two)
            assert isinstance(found, Holder)
            assert leases.this_process() in str(found)
        await taken(two)


async def test_of_many_at_once_one_gets_it(database: DatabaseSettings) -> None:
    async with opened(database, 8) as conns:
        found = await asyncio.gather(*(leases.take(one, "work", worker=one) for one in conns))

    assert sum(isinstance(one, Lease) for one in found) == 1


async def test_a_holder_whose_session_is_gone_holds_nothing(database: DatabaseSettings) -> None:
    """A killed session releases nothing itself."""
    async with opened(database, 1) as (conn,):
        async with connect(database) as dying:
            await taken(conn, dying)
            assert not await is_free(conn)
        await until(lambda: is_free(conn))


async def test_a_lease_that_ran_out_is_free_though_the_session_is_there(
    database: DatabaseSettings,
) -> None:
    async with opened(database, 2) as (one, two):
        lease = await taken(one)
        await end(two)
        await taken(two)
        with pytest.raises(LeaseLost):
            async with one.transaction():
                await leases.call_with_retries(one, lease)


async def test_a_lease_is_not_taken_over_during_a_transaction_that_insisted(
    database: DatabaseSettings,
) -> None:
    async with opened(database, 2) as (one, two):
        lease = await taken(one)
        await two.execute("SET lock_timeout = '100ms'")
        async with one.transaction():
            await leases.call_with_retries(one, lease)
            await end(two)
            with pytest.raises(errors.LockNotAvailable):
                await taken(two)
        await taken(two)


async def test_renewing_does_not_wait_for_a_transaction_that_insisted(
    database: DatabaseSettings,
) -> None:
    async with opened(database, 2) as (one, two):
        lease = await taken(one)
        await two.execute("SET lock_timeout = '100ms'")
        async with one.transaction():
            await leases.call_with_retries(one, lease)
            assert await leases.renew(two, lease)


@pytest.mark.parametrize("answer", [False, OSError("away")])
async def test_a_holder_that_cannot_renew_stops(answer: object) -> None:
    async def renew() -> bool:
        if isinstance(answer, OSError):
            raise answer
        return False

    with pytest.raises(Unavailable, match="lease of work"):
        async with asyncio.timeout(30), leases.renewed(renew, "work", seconds=SOON):
            await asyncio.Event().wait()


async def test_a_holder_that_cannot_even_ask_stops() -> None:
    async def renew() -> bool:
        await asyncio.Event().wait()
        return True

    with pytest.raises(Unavailable, match="lease of work"):
        async with asyncio.timeout(30), leases.renewed(renew, "work", seconds=SOON):
            await asyncio.Event().wait()


async def test_work_goes_on_as_long_as_it_is_renewed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = asyncio.Event()
    count = 0

    async def renew() -> bool:
        nonlocal count
        count += 1
        if count == 5:
            asked.set()
        return True

    monkeypatch.setattr(leases, "RENEW_SECONDS", 0.1)
    async with leases.renewed(renew, "work", seconds=SOON):
        await asked.wait()


async def test_an_own_timeout_of_the_work_is_not_taken_for_a_lost_lease() -> None:
    async def renew() -> bool:
        return True

    with pytest.raises(TimeoutError):
        async with leases.renewed(renew, "work"):
            raise TimeoutError


async def test_released_leases_leave_no_row(database: DatabaseSettings) -> None:
    async with opened(database, 1) as (conn,):
        async with leases.held(conn, await taken(conn)):
            pass
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.leases") == 0
