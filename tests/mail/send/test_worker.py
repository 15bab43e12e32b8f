"""A whole worker in this process: declared lost by others, and with unusual mail."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from mailqueue.mail.send.store import claims as claims_store
from mailqueue.queue import store as kernel
from mailqueue.settings.environment import DatabaseSettings, load_settings
from mailqueue.wiring import sending
from tests import make
from tests.concurrency.delayed_server import withholding
from tests.concurrency.running import account_at, session, until, until_nothing_is_queued
from tests.mail.claim.steps import SILENCE, difference
from tests.smtp.client.scripted import scripted

pytestmark = pytest.mark.anyio
CLAIMS = "SELECT last_value FROM mailqueue.claim_no_seq"


@asynccontextmanager
async def courier(
    database: DatabaseSettings, data: Path, **variables: Any
) -> AsyncIterator["asyncio.Task[bool]"]:
    """Run one worker during the block and check that it stops without error."""
    settings = load_settings(database_url=database.url, data=data, **variables)
    stop = asyncio.Event()
    running = asyncio.create_task(
        sending.build_send_worker(settings, launch_id=uuid4()).run(stop), name="courier"
    )
    try:
        yield running
    finally:
        stop.set()
        async with asyncio.timeout(60):
            await running


async def test_a_worker_declared_lost_ends_so_that_another_can_begin(
    database: DatabaseSettings, tmp_path: Path
) -> None:
    """Fence: with mail in flight and more waiting, it drops all and reports that it was lost."""
    async with withholding() as server, session(database) as conn:
        await make.sender_account(conn, smtp_port=server.port)
        await make.queued_emails(conn, 60)
        async with courier(database, tmp_path) as running:

            async def handed_over() -> bool:
                return server.taken > 0

            await until(handed_over)
            (worker,) = await make.rows(conn, "SELECT id FROM mailqueue.workers")
            await make.silent(conn, worker[0])
            await kernel.rescue(conn, silence=SILENCE)

            async with asyncio.timeout(60):
                assert await asyncio.shield(running) is False
        assert await make.rows(conn, "SELECT DISTINCT status FROM mailqueue.email_queue") == [
            ("pending",)
        ]
        assert await difference(conn) == 0


async def test_a_worker_does_not_rest_while_another_holds_the_mail_for_a_moment(
    database: DatabaseSettings, tmp_path: Path
) -> None:
    async with (
        scripted() as server,
        session(database) as conn,
        session(database) as other,
    ):
        await make.sender_account(conn, smtp_port=server.port)
        await make.queued_emails(conn, 5)
        await claims_store.gather_lanes(conn)
        await other.execute("BEGIN")
        await other.execute("SELECT FROM mailqueue.lanes FOR NO KEY UPDATE")
        before = await make.scalar(conn, CLAIMS)
        async with courier(database, tmp_path):

            async def has_claimed_again_and_again() -> bool:
                return bool(await make.scalar(conn, CLAIMS) > before + 5)

            await until(has_claimed_again_and_again)
            assert await make.rows(conn, "SELECT FROM mailqueue.waiters") == []

            await other.execute("ROLLBACK")
            await until_nothing_is_queued(conn)


async def test_what_a_server_says_is_recorded_whatever_it_is(
    database: DatabaseSettings, tmp_path: Path
) -> None:
    """A reply that the database cannot store must not end the worker."""
    answers = [
        b'250 2.0.0 \xff\xfe "quoted" \\ {a,b} NULL\r\n',
        b"250 2.0.0 caf\xc3\xa9 \xf0\x9f\x93\xac \x07\r\n",
        b"550 5.7.1 \\N \x1b[31m\r\n",
    ]
    async with scripted(dot=answers) as server, session(database) as conn:
        await account_at(conn, server, max_connections=1)
        async with courier(database, tmp_path):
            await make.queued_emails(conn, 2)
            assert await until_nothing_is_queued(conn) == {"sent": 2}
            await make.queued_email(conn, max_attempts=1)
            assert await until_nothing_is_queued(conn) == {"sent": 2, "failed": 1}

        replies = await make.rows(conn, "SELECT reply FROM mailqueue.send_logs ORDER BY id")
        assert any('"quoted" \\ {a,b} NULL' in reply for (reply,) in replies)


async def test_a_copy_that_unsubscribed_meanwhile_is_left_out_and_recorded_so(
    database: DatabaseSettings, tmp_path: Path
) -> None:
    """Suppress, from the queue to the wire."""
    async with scripted() as server, session(database) as conn:
        email = await make.queued_email(conn, cc=["cy@example.com"])
        await conn.execute(
            "INSERT INTO mailqueue.unsubscribe_list (email) VALUES ('cy@example.com')"
        )
        await account_at(conn, server)
        async with courier(database, tmp_path):
            assert await until_nothing_is_queued(conn) == {"sent": 1}

        assert [message.recipients for message in server.messages] == [
            (b"RCPT TO:<ann@example.com>",)
        ]
        assert await make.rows(
            conn,
            "SELECT address, status, reason FROM mailqueue.email_recipients"
            " WHERE email_id = %s ORDER BY position",
            email,
        ) == [
            ("ann@example.com", "sent", None),
            ("cy@example.com", "suppressed", "unsubscribed"),
        ]


async def test_mail_whose_content_is_missing_fails_alone(
    database: DatabaseSettings, tmp_path: Path
) -> None:
    async with scripted() as server, session(database) as conn:
        lost, fine = await make.queued_emails(conn, 2)
        await conn.execute(
            "DELETE FROM mailqueue.email_contents AS c USING mailqueue.email_queue AS q"
            " WHERE q.id = %s AND c.id = q.content_id",
            (lost,),
        )
        await account_at(conn, server)
        async with courier(database, tmp_path):
            assert await until_nothing_is_queued(conn) == {"sent": 1, "failed": 1}

        assert await make.status_of(conn, fine) == "sent"
