"""A commit without the standby's confirmation is retried, and counts once."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import pytest

from mailqueue.core.secret import Secret
from mailqueue.db.durable import NotReplicated
from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.db.pool import connect
from mailqueue.embedded.service_user import Account
from mailqueue.settings.environment import DatabaseSettings, Pooler
from tests import make
from tests.api.support.calling import calling, error_of
from tests.concurrency.running import session, until
from tests.failover.pair import NAME, ROLE, Pair
from tests.poolers.pgbouncer import bouncing

pytestmark = pytest.mark.anyio
T = TypeVar("T")
_CANCEL = "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"


@asynccontextmanager
async def standby_away(servers: Pair) -> AsyncIterator[None]:
    """Make every commit wait for a standby that does not respond, until the block ends."""
    await asyncio.to_thread(servers.standby.stop)
    try:
        yield
    finally:
        await asyncio.to_thread(servers.standby.start)


async def cancelled(servers: Pair, work: Awaitable[T]) -> T:
    """Run the work; cancel every wait for the standby as soon as it is seen."""
    task = asyncio.ensure_future(work)

    async def done() -> bool:
        await asyncio.to_thread(servers.primary.ask, _CANCEL)
        return task.done()

    await until(done)
    return await task


async def count(conn: Conn, address: str) -> int:
    query = "SELECT count(*) FROM mailqueue.emails WHERE recipient_email = %s"
    found: int = await make.scalar(conn, query, address)
    return found


async def test_the_api_answers_503_and_the_same_request_again_is_accepted_once(
    servers: Pair,
) -> None:
    async with calling(servers.database) as api, session(servers.database) as conn:
        mail = {"to": ["unsure@example.com"], "subject": "Hello", "text_body": "Hello"}
        async with standby_away(servers):
            unsure = await cancelled(servers, api.send(mail, Idempotency_Key="unsure"))
            still = await cancelled(servers, api.send(mail, Idempotency_Key="unsure"))
        again = await api.send(mail, Idempotency_Key="unsure")

        assert (unsure.status_code, still.status_code) == (503, 503)
        assert "Retry-After" in unsure.headers
        assert "standby" in error_of(unsure)["message"]
        assert again.status_code == 202
        assert await count(conn, "unsure@example.com") == 1


async def test_workers_write_again_what_was_not_confirmed(servers: Pair) -> None:
    link = Link(servers.database, "test/unsure")
    tried = 0

    async def write(conn: Conn) -> None:
        nonlocal tried
        tried += 1
        await make.project(conn, f"unsure-{tried}")

    try:
        writing = asyncio.ensure_future(link.call(write))
        async with standby_away(servers):

            async def was_told() -> bool:
                await asyncio.to_thread(servers.primary.ask, _CANCEL)
                return tried > 1

            await until(was_told)
        await writing
    finally:
        await link.close()


async def test_the_command_line_tries_again_under_the_same_key(
    servers: Pair, tmp_path: Path
) -> None:
    words = ["send", "--to", "shell@example.com", "--subject", "Hello", "--text", "Hello"]
    environment = os.environ | {
        "MAILQUEUE_DATABASE_URL": servers.database.url.reveal(),
        "MAILQUEUE_DATA": str(tmp_path),
    }
    async with standby_away(servers):
        sending = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "mailqueue", *words),
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

        async def was_cancelled() -> bool:
            return bool(await asyncio.to_thread(servers.primary.ask, _CANCEL))

        await until(was_cancelled)
        await until(was_cancelled)  # it tried again
    _, errors = await asyncio.wait_for(sending.communicate(), 60)

    assert sending.returncode == 0, errors
    async with session(servers.database) as conn:
        assert await count(conn, "shell@example.com") == 1


@pytest.mark.pgbouncer
async def test_the_warning_passes_a_pooler(
    servers: Pair, reachable_folder: Path, service_user: Account
) -> None:
    superuser = servers.primary.superuser()
    with bouncing(superuser, reachable_folder / "failover-pooler", service_user) as port:
        url = f"postgresql://{ROLE}:{ROLE}@127.0.0.1:{port}/{NAME}"
        async with connect(DatabaseSettings(Secret(url), pooler=Pooler.TRANSACTION)) as conn:
            await make.project(conn, "pooled-before")
            async with standby_away(servers):
                with pytest.raises(NotReplicated):
                    await cancelled(servers, make.project(conn, "pooled"))
