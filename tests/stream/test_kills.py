"""Consumers whose workers and sessions are killed at any time get each event once."""

import asyncio
import random
import signal
from pathlib import Path

import pytest

from mailqueue.core.crashpoints import VARIABLE
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.publishing import outboxes
from tests.queue.kernel.pools import deaths, end, pool_of, prepare, processes, until
from tests.stream.reading import READERS, assert_each_was_seen_once, note_events
from tests.webhooks import delivering

pytestmark = pytest.mark.anyio
EVENTS, LONG = 2_000, 200_000
SESSIONS = 8
POINTS = ("claimed", "handling", "handled", "settling", "settled")
TABLES = ("webhook_events", "webhook_deliveries", "outbox_message")
CLOSED = "http://127.0.0.1:1024/"
"""An endpoint that refuses connections."""
END_SESSIONS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
 WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%claim_publishing%'
"""


async def subscribe(conn: Conn) -> None:
    """Add a webhook and an outbox that get all events."""
    await delivering.webhook(conn, CLOSED)
    hook = await delivering.webhook(conn, CLOSED, event_types=["email.queued"])
    await outboxes.add(conn, "mail", hook)
    await conn.execute("UPDATE mailqueue.outbox_state SET events = '{}'")


OLDEST = "SELECT coalesce(max(extract(epoch FROM clock_timestamp() - waiting_since)), 0)::float8"
KILL_SECONDS = {EVENTS: (0.1, 1.0), LONG: (1.0, 4.0)}
"""Bounds of the time between two kills; a worker takes about half a second to start."""
MAX_AGE_SECONDS = {EVENTS: 30.0, LONG: 5.0}
"""Limit of the age of the oldest event that is committed and not handled, as a reader sees it."""


async def watch_age(database: DatabaseSettings, over: asyncio.Event) -> float:
    """Return the greatest age of an event that some consumer had not handled, until it is over."""
    oldest = 0.0
    async with connect(database) as conn:
        while not over.is_set():
            age = await make.scalar(conn, f"{OLDEST} FROM mailqueue.list_consumers()")
            oldest = max(oldest, age)
            await asyncio.sleep(0.1)
    return oldest


async def states(conn: Conn) -> object:
    return await make.rows(
        conn, "SELECT name, position, handled::text, last_error FROM mailqueue.consumers"
    )


@pytest.mark.parametrize("point", POINTS)
async def test_a_kill_at_each_point_leaves_nothing_out_and_repeats_nothing(
    point: str, database: DatabaseSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(monkeypatch, database, tmp_path)
    monkeypatch.setenv(VARIABLE, f"webhooks.{point} kill 1")
    async with connect(database) as conn:
        await subscribe(conn)
        for _ in range(3):
            await delivering.told(conn, 20, is_read=False)
        async with pool_of(["webhooks"], tmp_path):

            async def is_done() -> bool:
                counts = [
                    await make.scalar(conn, f"SELECT count(*) FROM mailqueue.{table}")
                    for table in TABLES
                ]
                return await deaths(conn) >= 1 and counts == [60] * len(TABLES)

            await until(is_done, lambda: states(conn))


async def write(database: DatabaseSettings, session: int, count: int) -> None:
    """Record events in transactions that end in another order than they began."""
    chance = random.Random(session)
    async with connect(database) as conn:
        left = count
        while left:
            several = min(left, chance.randint(1, 10))
            fails = chance.random() < 0.1
            async with conn.transaction(force_rollback=fails):
                await delivering.told(conn, several, is_read=False)
                await asyncio.sleep(chance.random() / 10)
            left -= 0 if fails else several


@pytest.mark.parametrize(
    "events", [EVENTS, pytest.param(LONG, marks=[pytest.mark.soak, pytest.mark.timeout(3600)])]
)
async def test_events_of_shuffled_commits_are_handled_once_while_workers_are_killed(
    events: int, database: DatabaseSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(monkeypatch, database, tmp_path)
    async with (
        connect(database) as conn,
        connect(database) as idle,
        idle.transaction(),
        pool_of(["publishing"], tmp_path),
    ):
        await subscribe(conn)
        await note_events(conn)
        await idle.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        await make.rows(idle, "SELECT count(*) FROM mailqueue.event_stream")  # as pg_dump does
        chance = random.Random(1)

        async def is_running() -> bool:
            return bool(await processes(conn))

        await until(is_running, lambda: states(conn))
        over = asyncio.Event()
        watching = asyncio.create_task(watch_age(database, over))
        writing = asyncio.gather(*(write(database, n, events // SESSIONS) for n in range(SESSIONS)))
        while not writing.done():
            await asyncio.sleep(chance.uniform(*KILL_SECONDS[events]))
            await conn.execute(END_SESSIONS)  # in the midst of a page
            for pid in await processes(conn):
                end(pid, signal.SIGKILL)
        await writing
        assert await deaths(conn) > 0

        async def all_are_seen() -> bool:
            count = await make.scalar(conn, "SELECT count(*) FROM public.seen")
            return bool(count == len(READERS) * events)

        await until(all_are_seen, lambda: states(conn))
        over.set()
        oldest = await watching
        await assert_each_was_seen_once(conn, events)
        assert oldest < MAX_AGE_SECONDS[events], f"{events} events, {await deaths(conn)} deaths"
