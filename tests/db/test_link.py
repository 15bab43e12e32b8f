"""A statement whose session was ended by the server is repeated, unless it was cancelled."""

import asyncio

import pytest
from psycopg import OperationalError

from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.settings.environment import DatabaseSettings

pytestmark = pytest.mark.anyio
LONGEST_SECONDS = 10.0


@pytest.mark.deep
@pytest.mark.parametrize(
    ("setting", "since"),
    [("idle_in_transaction_session_timeout", 140000), ("transaction_timeout", 170000)],
)
async def test_a_session_that_took_too_long_for_its_server_is_opened_again(
    database: DatabaseSettings, setting: str, since: int
) -> None:
    """A worker that was frozen between two statements still has outcomes to write."""
    tries = 0

    async def be_late(conn: Conn) -> bool:
        nonlocal tries
        tries += 1
        if tries > 1 or conn.info.server_version < since:
            return True
        async with asyncio.timeout(LONGEST_SECONDS), conn.transaction():
            await conn.execute(f"SET LOCAL {setting} = '1ms'".encode())
            while True:
                await asyncio.sleep(0.05)
                await conn.execute("SELECT 1")

    link = Link(database, "test/link")
    try:
        assert await link.call(be_late)
    finally:
        await link.close()


async def test_a_cancelled_call_ends_though_the_server_goes_away_at_that_moment(
    database: DatabaseSettings,
) -> None:
    """The driver waits for the cancelled statement; the error that it receives hides the
    cancellation.
    """
    link = Link(database, "test/link")
    begun = asyncio.Event()

    async def be_cut_off(_: Conn) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise OperationalError("server closed the connection unexpectedly") from None

    calling = asyncio.create_task(link.call(be_cut_off))
    await begun.wait()
    calling.cancel()

    with pytest.raises(asyncio.CancelledError):
        async with asyncio.timeout(LONGEST_SECONDS):
            await calling
