"""The primary fails under load and its standby takes over: no acknowledged mail is lost."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.concurrency.running import (
    account_at,
    deliveries,
    messages,
    pids,
    session,
    until,
    workers,
)
from tests.failover.client import CountingClient, client
from tests.failover.pair import Pair
from tests.mail.claim.steps import difference
from tests.smtp.client.scripted import ScriptedServer, scripted

pytestmark = pytest.mark.anyio
HANDS, PAUSE_SECONDS = 4, 0.02
BEFORE, AFTER = 30, 30  # mails sent around each failover
IN_FLIGHT, WORKERS = 8, 2
FAILOVERS, RESUMED_SECONDS = 20, 10.0


@asynccontextmanager
async def under_load(
    database: DatabaseSettings,
) -> AsyncIterator[tuple[ScriptedServer, CountingClient]]:
    """Send what a client inserts, by workers, to a test server."""
    async with scripted() as server:
        async with session(database) as conn:
            await account_at(conn, server)
        async with workers(database, processes=WORKERS, in_flight=IN_FLIGHT) as command:
            async with session(database) as conn:
                await pids(conn, WORKERS)
            async with client(database, hands=HANDS, pause=PAUSE_SECONDS) as counting:
                yield server, counting
            async with session(database) as conn:

                async def is_sent() -> bool:
                    return not await unfinished(conn, counting)

                await until(is_sent, seconds=60)
            assert await command.stopped() == 0


async def mails(conn: Conn, counting: CountingClient) -> list[tuple[str, UUID, str]]:
    """Return address, id and status of all mail of this client."""
    return await make.rows(
        conn,
        "SELECT recipient_email, id, status FROM mailqueue.emails WHERE recipient_email ^@ %s",
        counting.name,
    )


async def unfinished(conn: Conn, counting: CountingClient) -> int:
    query = (
        "SELECT count(*) FROM mailqueue.email_queue"
        " WHERE recipient_email ^@ %s AND status IN ('pending', 'assigned')"
    )
    found: int = await make.scalar(conn, query, counting.name)
    return found


async def fail_over(servers: Pair, server: ScriptedServer) -> float:
    """Kill the primary under load and promote; return the seconds until mail was sent again."""
    await messages(server, len(server.messages) + BEFORE)
    killed_at = time.monotonic()
    await asyncio.to_thread(servers.primary.kill)
    already = len(server.messages)
    await asyncio.to_thread(servers.promote)
    # Those in flight when it died may still be handed over without a database.
    await messages(server, already + WORKERS * IN_FLIGHT + 1)
    resumed = time.monotonic() - killed_at
    await messages(server, already + AFTER)
    return resumed


async def no_loss(
    servers: Pair, server: ScriptedServer, counting: CountingClient, failovers: int
) -> None:
    """Compare the acknowledged mail with the books and with what the server received."""
    async with session(servers.database) as conn:
        rows = await mails(conn, counting)
        assert await difference(conn) == 0
    ids = {address: email_id for address, email_id, _ in rows}
    assert len(ids) == len(rows), "a mail was accepted twice"
    assert {*ids.items()} >= {*counting.acknowledged.items()}, "acknowledged mail was lost"
    assert {status for *_, status in rows} == {"sent"}
    copies = deliveries(server)
    assert len(copies) == len(rows)
    assert copies.total() - len(copies) <= WORKERS * IN_FLIGHT * failovers
    assert max(copies.values()) <= 2


async def test_nothing_acknowledged_is_lost_when_the_standby_takes_over(servers: Pair) -> None:
    """Twice, so that the first primary is the standby of the second failover."""
    async with under_load(servers.database) as (server, counting):
        await fail_over(servers, server)
        await asyncio.to_thread(servers.follow)
        await fail_over(servers, server)
    await asyncio.to_thread(servers.follow)

    async with session(servers.database) as conn:
        timelines = "SELECT timeline_id FROM pg_control_checkpoint()"
        assert await make.scalar(conn, timelines) >= 3, "no standby took over twice"
    await no_loss(servers, server, counting, failovers=2)


@pytest.mark.soak
@pytest.mark.timeout(1800)
async def test_twenty_failovers_lose_nothing_and_claims_resume_within_ten_seconds(
    servers: Pair, capsys: pytest.CaptureFixture[str]
) -> None:
    pauses = []
    async with under_load(servers.database) as (server, counting):
        for _ in range(FAILOVERS):
            pauses.append(await fail_over(servers, server))
            await asyncio.to_thread(servers.follow)

    await no_loss(servers, server, counting, failovers=FAILOVERS)
    copies = deliveries(server)
    with capsys.disabled():
        print(  # noqa: T201
            f"\n{FAILOVERS} failovers: {len(counting.acknowledged)} acknowledged, 0 lost,"
            f" {copies.total() - len(copies)} duplicates, {counting.refused} without an answer;"
            f" mail went on after {min(pauses):.1f} to {max(pauses):.1f} s"
        )
    assert max(pauses) <= RESUMED_SECONDS
