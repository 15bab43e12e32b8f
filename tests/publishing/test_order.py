"""Messages are published once and in order, whatever the order in which their writers commit."""

import asyncio
import random
import time
from uuid import UUID

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.adapters.sending.fake import FakeReply, fake
from tests.publishing import outboxes
from tests.webhooks.delivering import until, webhook

pytestmark = pytest.mark.anyio
TRANSACTIONS = 1000
SESSIONS = 10
LATEST_SECONDS = 5.0
"""Within which a message is published after the last writer before it has committed."""


async def write(database: DatabaseSettings, session: int, committed: dict[UUID, float]) -> None:
    """Publish a message in each of many transactions, some of which stay open or roll back."""
    chance = random.Random(session)
    async with connect(database) as conn:
        for number in range(TRANSACTIONS // SESSIONS):
            fails = chance.random() < 0.1
            async with conn.transaction(force_rollback=fails):
                message = await outboxes.publish(conn, number)
                await asyncio.sleep(chance.random() / 50)
            if not fails:
                committed[message] = time.monotonic()


async def test_a_thousand_transactions_that_commit_in_any_order_are_published_in_theirs(
    database: DatabaseSettings,
) -> None:
    async with (
        fake([FakeReply(200)]) as server,
        connect(database) as conn,
        connect(database) as idle,
        idle.transaction(),
    ):
        await outboxes.add(conn, "default", await webhook(conn, f"http://127.0.0.1:{server.port}/"))
        await idle.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        await make.rows(idle, "SELECT count(*) FROM mailqueue.outbox_message")  # as pg_dump does
        committed: dict[UUID, float] = {}
        async with outboxes.publishing(database), outboxes.publishing(database):
            await asyncio.gather(*(write(database, n, committed) for n in range(SESSIONS)))

            async def all_arrived() -> bool:
                return len(server.requests) >= len(committed)

            await until(all_arrived, what="all messages")
            took = time.monotonic() - max(committed.values())

        in_order = await outboxes.numbers(conn)
        assert outboxes.arrived(server)["default"] == in_order
        assert set(in_order) == set(committed)
        by_commit = sorted(in_order, key=lambda message: committed[message])
        assert by_commit != in_order, "they committed in the order of their numbers"
        assert took < LATEST_SECONDS


async def test_a_message_waits_for_an_open_writer_before_it_and_for_no_other(
    database: DatabaseSettings,
) -> None:
    async with (
        fake([FakeReply(200)]) as server,
        connect(database) as conn,
        connect(database) as early,
    ):
        target = await webhook(conn, f"http://127.0.0.1:{server.port}/")
        await outboxes.add(conn, "default", target)
        await outboxes.add(conn, "other", target)
        async with early.transaction():
            first = await outboxes.publish(early, 1)
            second = await outboxes.publish(conn, 2)
            elsewhere = await outboxes.publish(conn, 3, outbox="other")
            async with outboxes.publishing(database):

                async def waits() -> bool:
                    query = "SELECT open_writers <> '{}' FROM mailqueue.outbox_state"
                    waiting = await make.scalar(conn, f"{query} WHERE name = 'default'")
                    return waiting and len(server.requests) == 1

                await until(waits, what="the other outbox alone")
                assert outboxes.arrived(server) == {"other": [elsewhere]}
        async with outboxes.publishing(database):

            async def both() -> bool:
                return len(server.requests) == 3

            await until(both, what="both messages")
        assert outboxes.arrived(server)["default"] == [first, second]


async def test_a_refused_message_holds_up_those_behind_it_until_it_is_accepted(
    database: DatabaseSettings,
) -> None:
    replies = [FakeReply(200), FakeReply(503), FakeReply(503), FakeReply(200)]
    async with fake([*replies]) as server, connect(database) as conn:
        await outboxes.add(conn, "default", await webhook(conn, f"http://127.0.0.1:{server.port}/"))
        one, two, three = [await outboxes.publish(conn, n) for n in range(3)]
        async with outboxes.publishing(database):

            async def all_published() -> bool:
                query = "SELECT bool_and(status = 'published') FROM mailqueue.outbox_message"
                return bool(await make.scalar(conn, query))

            await until(all_published, what="all messages")

        assert outboxes.arrived(server)["default"] == [one, two, two, two, three]


async def pending(conn: Conn) -> int:
    query = "SELECT count(*) FROM mailqueue.outbox_message WHERE status = 'pending'"
    found: int = await make.scalar(conn, query)
    return found


async def test_expired_and_skipped_messages_are_not_published(database: DatabaseSettings) -> None:
    async with fake([FakeReply(200)]) as server, connect(database) as conn:
        await outboxes.add(conn, "default", await webhook(conn, f"http://127.0.0.1:{server.port}/"))
        await make.scalar(
            conn,
            "SELECT mailqueue.publish('OrderPlaced', '{}',"
            " expiration_time => now() - interval '1 s')",
        )
        skipped = await outboxes.publish(conn, 1)
        last = await outboxes.publish(conn, 2)
        assert await make.scalar(
            conn,
            "SELECT mailqueue.skip_outbox_message(p.id, 'default', %s, 'tests')"
            " FROM mailqueue.projects AS p WHERE p.name = 'default'",
            skipped,
        )
        async with outboxes.publishing(database):

            async def is_over() -> bool:
                return await pending(conn) == 0

            await until(is_over, what="no message that is pending")

        assert outboxes.arrived(server)["default"] == [last]
        query = "SELECT status FROM mailqueue.outbox_message ORDER BY sequence_number"
        states = [row[0] for row in await make.rows(conn, query)]
        assert states == ["expired", "skipped", "published"]


async def test_the_first_message_of_all_is_published_by_a_worker_that_was_there_before(
    database: DatabaseSettings,
) -> None:
    async with fake([FakeReply(200)]) as server, connect(database) as conn:
        await outboxes.add(conn, "default", await webhook(conn, f"http://127.0.0.1:{server.port}/"))
        async with outboxes.publishing(database):

            async def is_idle() -> bool:
                query = "SELECT run_at > now() + interval '1 h' FROM mailqueue.outbox_state"
                return bool(await make.scalar(conn, query))

            await until(is_idle, what="the empty outbox to be read")
            first = await outboxes.publish(conn)

            async def has_arrived() -> bool:
                return len(server.requests) == 1

            await until(has_arrived, what="the first message")

    assert outboxes.arrived(server)["default"] == [first]
