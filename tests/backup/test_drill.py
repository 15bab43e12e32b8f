"""The guide's commands restore a point in time, and no mail is sent twice by itself."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.backup.guide import Guide
from tests.concurrency.running import (
    account_at,
    messages,
    session,
    statuses,
    workers,
)
from tests.queue.steps import difference
from tests.smtp.client.scripted import ScriptedServer, scripted

pytestmark = pytest.mark.anyio
MAILS = 10


async def sent(database: DatabaseSettings, server: ScriptedServer, count: int) -> None:
    """Send due mail with a worker until the server has received that many."""
    async with workers(database) as command:
        await messages(server, count)
        assert await command.stopped() == 0


async def queue(conn: Conn, about: str, **columns: object) -> Sequence[UUID]:
    return [
        await make.queued_email(conn, recipient_email=f"{about}{n}@example.com", **columns)
        for n in range(MAILS)
    ]


async def test_mail_sent_after_the_moment_is_held_and_not_sent_again(
    guide: Guide, restorable: DatabaseSettings
) -> None:
    """Mail queued at that point in time is held with this reason, and an operator decides."""
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    async with scripted() as server:
        async with session(restorable) as conn:
            await account_at(conn, server)
            await queue(conn, "before")
        await sent(restorable, server, MAILS)
        await asyncio.to_thread(guide.run, "pg_basebackup")
        if guide.has_verifier:
            await asyncio.to_thread(guide.run, "pg_verifybackup")
        async with session(restorable) as conn:
            first, second, *_ = await queue(conn, "doubtful")
            await queue(conn, "later", run_at=tomorrow)
            moment = str(await make.scalar(conn, "SELECT clock_timestamp()::text"))
            await queue(conn, "gone")
        await sent(restorable, server, 3 * MAILS)

        await asyncio.to_thread(guide.run, "recovery_target_time", MOMENT=moment)
        said = await asyncio.to_thread(guide.run, "mailqueue restored", MOMENT=moment)

        assert said.splitlines()[:2] == [f"{MAILS} would be held", f"{MAILS} held"]
        async with session(restorable) as conn:
            assert await statuses(conn) == {"sent": MAILS, "held": MAILS, "pending": MAILS}
            reasons = "SELECT DISTINCT reason FROM mailqueue.held"
            [(reason,)] = await make.rows(conn, reasons)
            assert reason.startswith("restored: may have been sent between ")
            async with workers(restorable) as command:
                new = await make.queued_email(conn, recipient_email="new@example.com")
                await messages(server, 3 * MAILS + 1)
                released = guide.home.run("resolve", str(first), "--not-sent")
                assert released.returncode == 0, released.stderr
                resolved = guide.home.run("resolve", str(second), "--sent")
                assert resolved.returncode == 0, resolved.stderr
                await messages(server, 3 * MAILS + 2)
                assert await command.stopped() == 0
            assert await make.status_of(conn, new) == "sent"
            assert await statuses(conn) == {
                "sent": MAILS + 3, "held": MAILS - 2, "pending": MAILS,
            }  # fmt: skip
            assert await difference(conn) == 0
        assert len(server.messages) == 3 * MAILS + 2


async def test_a_dump_brings_everything_back(guide: Guide, restorable: DatabaseSettings) -> None:
    async with session(restorable) as conn:
        await make.sender_account(conn)
        await queue(conn, "dumped")
    await asyncio.to_thread(guide.run, "pg_dumpall")
    await asyncio.to_thread(guide.run, "pg_restore")

    there = restorable.url.reveal().removesuffix("/mailqueue") + "/mailqueue_restored"
    verified = guide.home.with_(MAILQUEUE_DATABASE_URL=there).run("verify")
    assert verified.returncode == 0, verified.stdout + verified.stderr
    shown = guide.home.with_(MAILQUEUE_DATABASE_URL=there).json("migrate", "--status")
    assert shown["pending"] == [], shown
