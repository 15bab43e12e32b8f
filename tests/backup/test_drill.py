"""The guide's commands restore a point in time, and no mail is sent twice by itself."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.backup.guide import Guide
from tests.concurrency.running import (
    account_at,
    messages,
    session,
    statuses,
    until,
    workers,
)
from tests.mail.claim.steps import difference
from tests.smtp.client.scripted import ScriptedServer, scripted

pytestmark = pytest.mark.anyio
MAILS = 10
QUIET_SECONDS = 3.0
"""Time in which workers would have sent what is due, several times over."""


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
        async with workers(restorable) as command:
            await refused(restorable, "restored, copied or promoted")
            assert await command.stopped() == 0
        assert len(server.messages) == 3 * MAILS, "a worker that never saw it has sent from it"
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


async def test_workers_that_run_through_a_restore_send_nothing_until_it_is_declared(
    guide: Guide, restorable: DatabaseSettings
) -> None:
    async with scripted() as server:
        async with session(restorable) as conn:
            await account_at(conn, server)
            await queue(conn, "before")
        async with workers(restorable) as command:
            await messages(server, MAILS)
            await asyncio.to_thread(guide.run, "pg_basebackup")
            async with session(restorable) as conn:
                moment = str(await make.scalar(conn, "SELECT clock_timestamp()::text"))
                await queue(conn, "gone")
            await messages(server, 2 * MAILS)
            async with session(restorable) as conn:
                first = await queued_before(conn, moment)

            await asyncio.to_thread(guide.run, "recovery_target_time", MOMENT=moment)

            await refused(restorable, "the database has gone back")
            async with session(restorable) as conn:
                new = await make.queued_email(conn, recipient_email="new@example.com")
                await asyncio.sleep(QUIET_SECONDS)
                assert await make.status_of(conn, new) == "pending"
                why = await make.scalar(conn, "SELECT mailqueue.why(%s)", new)
                assert "mailqueue restored --from TIME" in why
                assert await make.status_of(conn, first) is None
            found = json.loads(guide.home.run("doctor", "--json").stdout)["checks"]
            alarms = [one["name"] for one in found if one["state"] == "alarm"]
            assert "restored database" in alarms
            assert await command.stopped() == 0
        assert len(server.messages) == 2 * MAILS

        await asyncio.to_thread(guide.run, "mailqueue restored", MOMENT=moment)

        async with workers(restorable) as command, session(restorable) as conn:
            later = await make.queued_email(conn, recipient_email="later@example.com")
            await messages(server, 2 * MAILS + 1)
            assert await make.status_of(conn, new) == "held"
            assert await command.stopped() == 0
            assert await make.status_of(conn, later) == "sent"


async def queued_before(conn: Conn, moment: str) -> UUID:
    """Return an email that was accepted after the moment that is restored."""
    found: UUID = await make.scalar(
        conn, "SELECT id FROM mailqueue.emails WHERE created_at > %s LIMIT 1", moment
    )
    return found


async def refused(database: DatabaseSettings, reason: str) -> None:
    """Wait until a worker has compared this database; mail is not sent from it for that reason."""

    async def noticed() -> bool:
        async with session(database) as conn:
            compared = (
                "SELECT num_nonnulls(changed_at, gone_back_at) FROM mailqueue.server_identity"
            )
            refusal = await make.scalar(conn, "SELECT mailqueue.sending_refusal()")
            return bool(await make.scalar(conn, compared)) and reason in str(refusal)

    await until(noticed, seconds=30)
    await asyncio.sleep(QUIET_SECONDS)


async def test_a_dump_brings_everything_back(guide: Guide, restorable: DatabaseSettings) -> None:
    """Nothing is sent from the copy before it is declared to be the one to send from."""
    async with scripted() as server:
        async with session(restorable) as conn:
            await account_at(conn, server)
            await queue(conn, "sent")
        await sent(restorable, server, MAILS)
        async with session(restorable) as conn:
            await queue(conn, "dumped")
        await asyncio.to_thread(guide.run, "pg_dumpall")
        await asyncio.to_thread(guide.run, "pg_restore")

        there = restorable.url.reveal().removesuffix("/mailqueue") + "/mailqueue_restored"
        home = guide.home.with_(MAILQUEUE_DATABASE_URL=there)
        verified = home.run("verify")
        assert verified.returncode == 0, verified.stdout + verified.stderr
        shown = home.json("migrate", "--status")
        assert shown["pending"] == [], shown
        copy = replace(restorable, url=Secret(there))
        async with workers(copy) as command:
            await refused(copy, "restored, copied or promoted")
            assert await command.stopped() == 0
        assert len(server.messages) == MAILS

        accepted = home.run("restored", "--nothing-lost")
        assert accepted.stdout == "emails are sent from this database; none is held\n"
        await sent(copy, server, 2 * MAILS)
