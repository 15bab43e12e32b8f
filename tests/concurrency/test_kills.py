"""Window: killed, stopped or frozen workers lose nothing and cause few duplicates."""

import asyncio
import os
import signal

import pytest

from mailqueue.queue import store as kernel
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.concurrency.delayed_server import withholding
from tests.concurrency.running import (
    SLOWLY,
    account_at,
    deliveries,
    enqueue,
    messages,
    pids,
    session,
    statuses,
    until,
    until_nothing_is_queued,
    workers,
)
from tests.mail.claim.steps import SILENCE, difference
from tests.smtp.client.scripted import SILENT, scripted

pytestmark = pytest.mark.anyio
MAILS = 400
_SENDERS = "SELECT status FROM mailqueue.worker_status WHERE kind = 'send'"
IN_FLIGHT = 8


async def test_a_killed_worker_loses_nothing_and_doubles_only_what_was_in_flight(
    durable: DatabaseSettings,
) -> None:
    async with scripted(dot=SLOWLY) as server, session(durable) as conn:
        account = await account_at(conn, server)
        async with workers(durable, processes=3, in_flight=IN_FLIGHT) as command:
            victim = (await pids(conn, 3))[0]
            await enqueue(conn, MAILS)
            await messages(server, MAILS // 4)
            os.kill(victim, signal.SIGKILL)
            assert await until_nothing_is_queued(conn) == {"sent": MAILS}
            assert await command.stopped() == 0

        copies = deliveries(server)
        assert len(copies) == MAILS
        assert max(copies.values()) <= 2
        assert copies.total() - MAILS <= IN_FLIGHT
        assert await difference(conn) == 0
        counters = await make.rows(
            conn,
            "SELECT daily_reserved, daily_sent FROM mailqueue.sender_headroom"
            " WHERE sender_account_id = %s",
            account,
        )
        assert counters[0][0] == 0
        assert counters[0][1] >= copies.total()  # never fewer than were really sent


async def test_mail_that_must_not_be_doubled_is_held_when_its_worker_is_killed(
    durable: DatabaseSettings,
) -> None:
    async with scripted(dot=SLOWLY) as server, session(durable) as conn:
        await account_at(conn, server)
        async with workers(durable, processes=2, in_flight=IN_FLIGHT) as command:
            victim = (await pids(conn, 2))[0]
            await enqueue(conn, MAILS, delivery="hold")
            await messages(server, MAILS // 4)
            os.kill(victim, signal.SIGKILL)
            found = await until_nothing_is_queued(conn)
            assert await command.stopped() == 0

        assert found["sent"] + found["held"] == MAILS
        assert found["held"] <= IN_FLIGHT
        copies = deliveries(server)
        assert set(copies.values()) == {1}
        assert found["sent"] <= len(copies) <= MAILS
        assert await difference(conn) == 0


async def test_a_worker_told_to_stop_finishes_what_it_sends_and_gives_the_rest_back(
    durable: DatabaseSettings,
) -> None:
    async with scripted(dot=SLOWLY) as server, session(durable) as conn:
        account = await account_at(conn, server)
        await enqueue(conn, MAILS)
        async with workers(durable, in_flight=IN_FLIGHT) as command:
            await messages(server, 50)
            started_at = asyncio.get_running_loop().time()
            assert await command.stopped() == 0
            assert asyncio.get_running_loop().time() - started_at < 10

        found = await statuses(conn)
        assert found["sent"] == len(server.messages) == len(deliveries(server))
        assert found == {"sent": found["sent"], "pending": MAILS - found["sent"]}
        assert await make.rows(
            conn, "SELECT DISTINCT attempts, unknowns FROM mailqueue.email_queue"
        ) == [(0, 0)]
        reserved = (
            "SELECT daily_reserved FROM mailqueue.sender_headroom WHERE sender_account_id = %s"
        )
        assert await make.scalar(conn, reserved, account) == 0
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.waiters") == 0
        assert await make.rows(conn, _SENDERS) == [("stopped",)]


async def test_a_parent_that_is_killed_takes_its_workers_along_in_good_order(
    durable: DatabaseSettings,
) -> None:
    async with scripted(dot=SLOWLY) as server, session(durable) as conn:
        await account_at(conn, server)
        async with workers(durable, processes=2, in_flight=IN_FLIGHT) as command:
            await pids(conn, 2)
            await enqueue(conn, MAILS)
            await messages(server, 20)
            command.signal(signal.SIGKILL)
            await command.ended()

            async def all_stopped() -> bool:
                rows = await make.rows(conn, "SELECT DISTINCT status FROM mailqueue.worker_status")
                return rows == [("stopped",)]

            await until(all_stopped)

        found = await statuses(conn)
        assert found == {"sent": len(server.messages), "pending": MAILS - len(server.messages)}


async def test_a_frozen_worker_comes_back_to_find_its_mail_gone_and_goes_on(
    durable: DatabaseSettings,
) -> None:
    """Fence: what it had handed over is recorded, what it had not is not sent by it any more."""
    async with scripted(dot=[SILENT]) as server, session(durable) as conn:
        await account_at(conn, server, max_connections=1)
        email = await make.queued_email(conn, delivery="hold")
        async with workers(durable, in_flight=1) as command:

            async def handed_over() -> bool:
                return "." in server.verbs

            await until(handed_over)
            command.signal(signal.SIGSTOP)
            (frozen,) = await make.rows(
                conn, "SELECT id FROM mailqueue.workers WHERE kind = 'send'"
            )
            await make.silent(conn, frozen[0])
            assert await kernel.rescue(conn, silence=SILENCE) == 1
            assert await make.status_of(conn, email) == "held"
            command.signal(signal.SIGCONT)

            # The same process works on under a new number.
            second = await make.queued_email(conn, recipient_email="bob@example.com")

            async def is_sent() -> bool:
                return await make.status_of(conn, second) == "sent"

            await until(is_sent)
            assert await command.stopped() == 0

        ids = await make.rows(
            conn, "SELECT id, status FROM mailqueue.worker_status WHERE kind = 'send' ORDER BY id"
        )
        assert [status for _, status in ids] == ["lost", "stopped"]
        assert await make.status_of(conn, email) == "held"
        assert len(server.messages) == 1


async def test_what_a_frozen_worker_had_sent_is_recorded_when_it_wakes(
    durable: DatabaseSettings,
) -> None:
    """The answer comes while the worker is frozen: proof that finishes the held mail."""
    async with withholding() as server, session(durable) as conn:
        await make.sender_account(conn, smtp_port=server.port)
        email = await make.queued_email(conn, delivery="hold")
        async with workers(durable, in_flight=1) as command:

            async def handed_over() -> bool:
                return server.taken == 1

            await until(handed_over)
            command.signal(signal.SIGSTOP)
            (frozen,) = await make.rows(
                conn, "SELECT id FROM mailqueue.workers WHERE kind = 'send'"
            )
            await make.silent(conn, frozen[0])
            assert await kernel.rescue(conn, silence=SILENCE) == 1
            assert await make.status_of(conn, email) == "held"
            server.release.set()
            await asyncio.sleep(0)
            command.signal(signal.SIGCONT)

            async def is_sent() -> bool:
                return await make.status_of(conn, email) == "sent"

            await until(is_sent)

        assert server.taken == 1
        assert await difference(conn) == 0
