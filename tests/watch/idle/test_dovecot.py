"""Debian's Dovecot is listened to over each kind of connection, and a killed process replaced."""

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

from mailqueue.adapters.mailboxes.idle import ImapIdle
from mailqueue.core.crashpoints import VARIABLE
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.ports.mailbox import HearingEnd, MailboxAccess, MailboxTls
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.api.support.wired import MASTER
from tests.watch import watching
from tests.watch.dovecot import PASSWORD, USER, Dovecot, dovecot
from tests.watch.fake_imap import mail
from tests.watch.idle.listening import LATER, due, heard, listening, quiet
from tests.watch.idle.test_connection import Heard
from tests.webhooks.delivering import LOOPBACK

pytestmark = [pytest.mark.anyio, pytest.mark.dovecot]


@pytest.fixture
def imap(tmp_path: Path) -> Iterator[Dovecot]:
    with dovecot(tmp_path) as running:
        yield running


async def watched(conn: Conn, imap: Dovecot) -> UUID:
    """Watch the inbox at Dovecot, which was scanned and is due in an hour."""
    owner = await watching.user(conn, USER)
    await watching.channel(conn, owner)
    one = await watching.inbox(conn, owner, imap.port, address=USER, password=PASSWORD)
    await quiet(conn, one)
    return one


@pytest.mark.parametrize("tls", [*MailboxTls])
async def test_what_arrives_is_heard_over_each_kind_of_connection(
    imap: Dovecot, tls: MailboxTls
) -> None:
    port = imap.tls_port if tls is MailboxTls.IMPLICIT else imap.port
    where = MailboxAccess("127.0.0.1", port, tls, USER, Secret(PASSWORD), ("INBOX",))
    one = Heard()
    hearing = ImapIdle(LOOPBACK, tls_context=imap.context)
    task = asyncio.create_task(hearing.hear(where, ready=one.is_ready, arrived=one.arrived))
    ready = asyncio.create_task(one.ready.wait())
    await asyncio.wait({task, ready}, return_when=asyncio.FIRST_COMPLETED)
    assert not task.done(), task.result()
    imap.add(mail(1))
    await asyncio.wait_for(one.changed.wait(), 30)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_wrong_password_and_an_untrusted_certificate_are_no_connection(
    imap: Dovecot,
) -> None:
    one = Heard()
    wrong = MailboxAccess(
        "127.0.0.1", imap.port, MailboxTls.NONE, USER, Secret("guess"), ("INBOX",)
    )
    end = await ImapIdle(LOOPBACK).hear(wrong, ready=one.is_ready, arrived=one.arrived)
    assert end == HearingEnd("the server refused the login", is_refusal=True)
    for tls, port in ((MailboxTls.IMPLICIT, imap.tls_port), (MailboxTls.STARTTLS, imap.port)):
        where = MailboxAccess("127.0.0.1", port, tls, USER, Secret(PASSWORD), ("INBOX",))
        end = await ImapIdle(LOOPBACK).hear(where, ready=one.is_ready, arrived=one.arrived)
        assert "certificate" in end.reason
    assert not one.ready.is_set()


async def test_mail_at_dovecot_is_reported_without_waiting_for_the_next_scan(
    imap: Dovecot, database: DatabaseSettings
) -> None:
    async with connect(database) as conn:
        inbox_id = await watched(conn, imap)
        async with listening(database), watching.scanning(database):
            await heard(conn, inbox_id)
            await watching.scanned(conn, inbox_id)
            await conn.execute(LATER.encode(), (inbox_id,))
            imap.add(mail(2, subject="At once"))

            async def is_told() -> bool:
                return [each[0] for each in await watching.log(conn)] == ["At once"]

            await watching.wait(is_told, "the notification")


@pytest.mark.parametrize("dies_at", ["", "idle.taken"])
async def test_another_process_takes_over_from_one_that_was_killed(
    imap: Dovecot, database: DatabaseSettings, tmp_path: Path, dies_at: str
) -> None:
    environment = os.environ | {
        "MAILQUEUE_DATABASE_URL": database.url.reveal(),
        "MAILQUEUE_MASTER_KEY": MASTER,
        "MAILQUEUE_ALLOWED_HOSTS": "127.0.0.0/8",
        "MAILQUEUE_DATA": str(tmp_path / "data"),
    }

    async def started(dies_at: str = "") -> asyncio.subprocess.Process:
        point = {VARIABLE: f"{dies_at} kill 1"} if dies_at else {}
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "mailqueue", "worker", "idle"),
            env=environment | point,
            stderr=asyncio.subprocess.DEVNULL,
        )

    async with connect(database) as conn:
        inbox_id = await watched(conn, imap)
        holder = "SELECT listener FROM mailqueue.inbox_listeners"
        first = await started(dies_at)
        try:
            if not dies_at:
                await heard(conn, inbox_id)
                first.send_signal(signal.SIGKILL)
            assert await first.wait() == -signal.SIGKILL
            before = await make.scalar(conn, holder)
            taken = "SELECT lease_until > now() FROM mailqueue.inbox_listeners"
            assert await make.scalar(conn, taken) is True, "the lease of the dead one holds"
            await conn.execute("UPDATE mailqueue.inbox_listeners SET lease_until = now()")
            second = await started()
            try:

                async def is_taken() -> bool:
                    query = f"{holder} WHERE state = 'listening'"
                    found = await make.rows(conn, query)
                    return bool(found) and found[0][0] != before

                await watching.wait(is_taken, "the other process")
                await due(conn, inbox_id)
                await conn.execute(LATER.encode(), (inbox_id,))
                imap.add(mail(3))
                await due(conn, inbox_id)
                second.send_signal(signal.SIGTERM)
                assert await second.wait() == 0
            finally:
                if second.returncode is None:
                    second.kill()
                    await second.wait()
        finally:
            if first.returncode is None:
                first.kill()
                await first.wait()
        assert await make.scalar(conn, "SELECT lease_until <= now() FROM mailqueue.inbox_listeners")
