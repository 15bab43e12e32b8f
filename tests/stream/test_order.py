"""Each event is handled once by each consumer, in order where asked, whatever commits when."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.stream.reading import READERS, assert_each_was_seen_once, note_events, seen
from tests.webhooks.delivering import until

pytestmark = pytest.mark.anyio
EVENTS, SESSIONS = 2000, 8


@pytest.fixture
async def db(database: DatabaseSettings) -> AsyncIterator[Conn]:
    """A connection that commits, to a database whose consumers write down what they get."""
    async with connect(database) as conn:
        await note_events(conn)
        yield conn


async def append(conn: Conn, count: int = 1) -> None:
    await conn.execute(
        "INSERT INTO mailqueue.event_stream (project_id, type, occurred_at)"
        " SELECT %s, 'email.sent', now() FROM generate_series(1, %s)",
        (await make.project_named(conn), count),
    )


@asynccontextmanager
async def reading(database: DatabaseSettings, *, page: int) -> AsyncIterator[None]:
    """Read pages during the block, as claims of a worker do."""
    is_over = asyncio.Event()

    async def read() -> None:
        async with connect(database) as conn:
            while not is_over.is_set():
                await conn.execute("SELECT mailqueue.read_stream(%s)", (page,))

    task = asyncio.create_task(read())
    try:
        yield
    finally:
        is_over.set()
        await task


async def write(database: DatabaseSettings, session: int) -> None:
    """Append events in transactions, some of which stay open or roll back."""
    chance = random.Random(session)
    async with connect(database) as conn:
        left = EVENTS // SESSIONS
        while left:
            count = min(left, chance.randint(1, 5))
            fails = chance.random() < 0.1
            async with conn.transaction(force_rollback=fails):
                await append(conn, count)
                await asyncio.sleep(chance.random() / 20)
            left -= 0 if fails else count


async def test_events_of_shuffled_commits_are_handled_once_beside_an_old_snapshot(
    db: Conn, database: DatabaseSettings
) -> None:
    async with connect(database) as idle, idle.transaction():
        await idle.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        await make.rows(idle, "SELECT count(*) FROM mailqueue.event_stream")  # as pg_dump does
        async with reading(database, page=20), reading(database, page=20):
            await asyncio.gather(*(write(database, n) for n in range(SESSIONS)))

            async def all_are_seen() -> bool:
                count = await make.scalar(db, "SELECT count(*) FROM public.seen")
                return bool(count == len(READERS) * EVENTS)

            await until(all_are_seen, what="all events")

    await assert_each_was_seen_once(db, EVENTS)


async def test_an_open_writer_delays_the_ordered_and_what_it_commits_late_is_handled_once(
    db: Conn, database: DatabaseSettings
) -> None:
    async with connect(database) as early:
        async with early.transaction():
            await append(early, 2)
            await append(db, 10)
            for _ in range(5):
                await db.execute("SELECT mailqueue.read_stream(3)")
            assert await seen(db, "webhooks") == [*range(3, 13)]
            assert await seen(db, "outboxes") == []
        for _ in range(5):
            await db.execute("SELECT mailqueue.read_stream(3)")
        assert await seen(db, "outboxes") == [*range(1, 13)]
        assert await seen(db, "webhooks") == [*range(3, 13), 1, 2]
        found = await make.rows(
            db, "SELECT position, handled::text, open_writers FROM mailqueue.consumers"
        )
        assert found == [(12, "{}", [])] * len(READERS)


async def test_writers_that_follow_each_other_delay_the_ordered_by_the_first_only(
    db: Conn, database: DatabaseSettings
) -> None:
    """Each is open when the one before it ends, so that one is open at any time."""
    async with connect(database) as first, connect(database) as second:
        await first.execute("BEGIN")
        await append(first)
        await db.execute("SELECT mailqueue.read_stream()")
        await second.execute("BEGIN")
        await append(second)
        await first.execute("COMMIT")
        await db.execute("SELECT mailqueue.read_stream()")

        assert await seen(db, "outboxes") == [1]
        await second.execute("COMMIT")
        await db.execute("SELECT mailqueue.read_stream()")
        assert await seen(db, "outboxes") == [1, 2]


async def test_a_prepared_writer_is_waited_for(db: Conn, database: DatabaseSettings) -> None:
    if await make.scalar(db, "SELECT current_setting('max_prepared_transactions')") == "0":
        writers = "SELECT mailqueue.sequence_writers('mailqueue.event_stream_number_seq')"
        async with connect(database) as early, early.transaction():
            await append(early)
            assert len(await make.scalar(db, writers)) == 1
        assert await make.scalar(db, writers) == []
        return
    await db.execute("BEGIN")
    await append(db)
    await db.execute("PREPARE TRANSACTION 'early'")
    await append(db)
    await db.execute("SELECT mailqueue.read_stream()")
    assert await seen(db, "webhooks") == [2]
    assert await seen(db, "outboxes") == []
    await db.execute("COMMIT PREPARED 'early'")
    await db.execute("SELECT mailqueue.read_stream()")
    assert await seen(db, "outboxes") == [1, 2]
    assert await seen(db, "webhooks") == [2, 1]


async def test_a_reader_does_not_wait_for_another_that_reads(
    db: Conn, database: DatabaseSettings
) -> None:
    await append(db)
    async with connect(database) as other:
        async with other.transaction():
            await other.execute("SELECT mailqueue.read_stream()")
            await db.execute("SELECT mailqueue.read_stream()")
            assert await seen(db, "webhooks") == []
        assert await seen(db, "webhooks") == await seen(db, "outboxes") == [1]
