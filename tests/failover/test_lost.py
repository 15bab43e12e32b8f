"""A standby that lacks acknowledged commits takes over: nothing is sent from it by itself."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mailqueue.db.fetch import Conn
from tests import make
from tests.concurrency.running import account_at, deliveries, messages, session, until, workers
from tests.failover.pair import Pair
from tests.smtp.client.scripted import scripted
from tests.whole.running import Home

pytestmark = pytest.mark.anyio

MAILS = 20
QUIET_SECONDS = 3.0
"""Time in which workers would have sent what is due, several times over."""


async def queue(conn: Conn, about: str) -> None:
    for n in range(MAILS):
        await make.queued_email(conn, recipient_email=f"{about}{n}@example.com")


async def test_a_standby_that_lacks_marks_is_not_sent_from_until_it_is_declared(
    servers: Pair, tmp_path: Path
) -> None:
    home = Home(tmp_path, {"MAILQUEUE_DATABASE_URL": servers.database.url.reveal()})
    async with scripted() as server:
        async with session(servers.database) as conn:
            await account_at(conn, server)
            await queue(conn, "lost")
            # The standby has the mail, and none of what becomes of it.
            for statement in (
                "ALTER SYSTEM RESET synchronous_standby_names",
                "SELECT pg_reload_conf()",
            ):
                await asyncio.to_thread(servers.primary.ask, statement)
        await asyncio.to_thread(servers.standby.stop)
        moment = datetime.now(UTC)
        async with workers(servers.database, processes=2) as command:
            await messages(server, MAILS)
            await asyncio.to_thread(servers.primary.kill)
            await asyncio.to_thread(servers.standby.start)
            await asyncio.to_thread(servers.promote)

            async def gone_back() -> bool:
                async with session(servers.database) as conn:
                    return "gone back" in str(
                        await make.scalar(conn, "SELECT mailqueue.sending_refusal()")
                    )

            await until(gone_back)
            await asyncio.sleep(QUIET_SECONDS)
            assert await command.stopped() == 0
        assert len(server.messages) == MAILS

        done = home.run("restored", "--from", moment.isoformat())
        assert done.returncode == 0, done.stderr
        assert done.stdout == f"{MAILS} held\n"
        async with workers(servers.database) as command, session(servers.database) as conn:
            await queue(conn, "new")
            await messages(server, 2 * MAILS)
            assert await command.stopped() == 0
        assert max(deliveries(server).values()) == 1
    await asyncio.to_thread(servers.follow)
