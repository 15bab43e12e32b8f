"""The database fails during sending: everything is sent, with few duplicates."""

import asyncio

import pytest

from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.concurrency.running import (
    SLOWLY,
    Shipped,
    account_at,
    deliveries,
    enqueue,
    messages,
    pids,
    session,
    until_nothing_is_queued,
    workers,
)
from tests.mail.claim.steps import difference
from tests.smtp.client.scripted import scripted

pytestmark = pytest.mark.anyio
MAILS, IN_FLIGHT = 200, 8


@pytest.mark.parametrize("delivery", ["resend", "hold"])
async def test_a_crash_of_the_database_loses_no_mail_and_doubles_none(
    shipped: Shipped, durable: DatabaseSettings, delivery: str
) -> None:
    """The workers continue and write the outcomes: none is unknown."""
    async with (
        scripted(dot=SLOWLY) as server,
        workers(durable, processes=2, in_flight=IN_FLIGHT) as command,
    ):
        async with session(durable) as conn:
            await account_at(conn, server)
            await pids(conn, 2)
            await enqueue(conn, MAILS, delivery=delivery)
        await messages(server, MAILS // 4)
        await asyncio.to_thread(shipped.kill)
        await asyncio.to_thread(shipped.start)

        async with session(durable) as conn:
            assert await until_nothing_is_queued(conn) == {"sent": MAILS}
            copies = deliveries(server)
            assert (len(copies), copies.total()) == (MAILS, MAILS)
            assert await difference(conn) == 0
            assert await make.rows(conn, "SELECT DISTINCT status FROM mailqueue.worker_status") == [
                ("running",)
            ]
            later = await make.queued_email(conn)
            await messages(server, MAILS + 1)
            assert await make.scalar(
                conn, "SELECT count(*) FROM mailqueue.email_queue WHERE id <> %s", later
            ) == 0  # fmt: skip
        assert await command.stopped() == 0


async def test_connections_cut_one_by_one_are_made_again(durable: DatabaseSettings) -> None:
    async with scripted(dot=SLOWLY) as server, session(durable) as conn:
        await account_at(conn, server)
        async with workers(durable, in_flight=IN_FLIGHT) as command:
            await pids(conn, 1)
            await enqueue(conn, MAILS)
            for count in (20, 60, 100, 140, 180):
                await messages(server, count)
                await conn.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND application_name ^@ 'mailqueue/'"
                )
            assert await until_nothing_is_queued(conn) == {"sent": MAILS}
            assert await command.stopped() == 0

        copies = deliveries(server)
        assert (len(copies), copies.total()) == (MAILS, MAILS)
        assert await difference(conn) == 0
