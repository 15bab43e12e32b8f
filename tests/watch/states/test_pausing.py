"""A paused inbox is not read, and its login is checked: what its owner took back is an error."""

from collections.abc import Awaitable, Callable
from uuid import UUID

import pytest

from mailqueue.core.errors import Conflict
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.watch import inboxes
from mailqueue.watch.inboxes import InboxAction
from tests import make
from tests.watch import watching
from tests.watch.fake_gmail import fake_gmail
from tests.watch.fake_imap import fake_imap, mail
from tests.watch.gmail import watched as gmail

pytestmark = pytest.mark.anyio
REFUSALS = "SELECT refusals FROM mailqueue.mailboxes WHERE id = %s"
DUE = "UPDATE mailqueue.mailboxes SET run_at = now() WHERE id = %s"
LEFT = "SELECT extract(epoch FROM run_at - now())::integer FROM mailqueue.mailboxes WHERE id = %s"


async def paused(conn: Conn, inbox_id: UUID) -> None:
    project_id = await make.project_named(conn)
    await inboxes.switch(conn, project_id, inbox_id, InboxAction.PAUSE, by="tests")


async def state(conn: Conn, inbox_id: UUID) -> str:
    return (await inboxes.get(conn, await make.project_named(conn), inbox_id)).status


async def until_waits(conn: Conn, inbox_id: UUID, low: int, high: int) -> None:
    """Make an inbox due, and wait until its next turn is in so many seconds."""
    await conn.execute(DUE, (inbox_id,))

    async def waits() -> bool:
        return bool(low < await make.scalar(conn, LEFT, inbox_id) <= high)

    await watching.wait(waits, f"a turn in {low} to {high} seconds")


async def refused_four_times(conn: Conn, inbox_id: UUID) -> None:
    for low, high in ((0, 30), (30, 120), (120, 480)):
        await until_waits(conn, inbox_id, low, high)
        assert await state(conn, inbox_id) == "paused"
    await conn.execute(DUE, (inbox_id,))

    async def is_in_error() -> bool:
        return await state(conn, inbox_id) == "error"

    await watching.wait(is_in_error, "the error")


async def test_a_token_that_is_revoked_while_its_inbox_is_paused_is_an_error_before_the_resume(
    database: DatabaseSettings,
) -> None:
    async with fake_gmail() as server, connect(database) as conn:
        inbox_id = await gmail.watched(conn)
        async with gmail.scanning(server, database, topic="projects/p/topics/t"):
            await watching.scanned(conn, inbox_id)
            await paused(conn, inbox_id)
            server.add("During the pause")
            server.refresh_tokens.clear()
            server.access_tokens.clear()
            await refused_four_times(conn, inbox_id)

        project_id = await make.project_named(conn)
        with pytest.raises(Conflict, match="reconnect"):
            await inboxes.switch(conn, project_id, inbox_id, InboxAction.RESUME, by="tests")
        told = await make.rows(conn, "SELECT kind, subject FROM mailqueue.notifications")
        assert told == [
            ("notice", "Inbox ann@example.com is no longer watched: reconnect it"),
        ]
        assert await make.scalar(conn, "SELECT tell_at <= now() FROM mailqueue.mailboxes") is True


async def test_a_password_that_is_changed_while_its_inbox_is_paused_is_an_error(
    database: DatabaseSettings,
) -> None:
    async with fake_imap() as server, connect(database) as conn:
        owner = await watching.user(conn)
        inbox_id = await watching.inbox(conn, owner, server.port)
        async with watching.scanning(database):
            await watching.scanned(conn, inbox_id)
            await paused(conn, inbox_id)
            server.password = "another"
            await refused_four_times(conn, inbox_id)

        assert server.logins == 5


async def by_gmail(
    conn: Conn, database: DatabaseSettings, then: Callable[..., Awaitable[None]]
) -> None:
    async with fake_gmail() as server:
        inbox_id = await gmail.watched(conn)
        async with gmail.scanning(server, database, topic="projects/p/topics/t"):
            await watching.scanned(conn, inbox_id)
            await then(inbox_id, server.add)
        assert server.asked("/messages/") == 1, "what was not reported was not read"
        assert len(server.watches) == 1, "nor were pushes asked for"


async def by_imap(
    conn: Conn, database: DatabaseSettings, then: Callable[..., Awaitable[None]]
) -> None:
    async with fake_imap() as server:
        owner = await watching.user(conn)
        await watching.channel(conn, owner)
        inbox_id = await watching.inbox(conn, owner, server.port)

        def add(subject: str) -> None:
            server.folders["INBOX"].add(mail(server.folders["INBOX"].next_uid, subject=subject))

        async with watching.scanning(database):
            await watching.scanned(conn, inbox_id)
            await then(inbox_id, add)
        fetches = [one for one in server.commands if one.startswith("UID FETCH")]
        assert len(fetches) == 1, "what was not reported was not read"


@pytest.mark.parametrize("provider", [by_gmail, by_imap])
async def test_the_daily_check_of_a_paused_inbox_reads_and_reports_nothing(
    database: DatabaseSettings, provider: Callable[..., Awaitable[None]]
) -> None:
    async with connect(database) as conn:

        async def checked(inbox_id: UUID, add: Callable[[str], object]) -> None:
            await paused(conn, inbox_id)
            known = await make.scalar(conn, watching.SCANNED, inbox_id)
            add("During the pause")
            await until_waits(conn, inbox_id, 86_000, 86_400)
            project_id = await make.project_named(conn)
            found = await inboxes.get(conn, project_id, inbox_id)
            assert (found.status, found.next_scan_at, found.last_error, found.last_scanned_at) == (
                "paused",
                None,
                "paused by tests",
                known,
            )
            again = await inboxes.switch(conn, project_id, inbox_id, InboxAction.SCAN, by="tests")
            assert again.next_scan_at is None, "a paused inbox is not scanned on demand"
            await inboxes.switch(conn, project_id, inbox_id, InboxAction.RESUME, by="tests")
            await watching.scanned(conn, inbox_id)
            add("After it")
            await watching.scanned(conn, inbox_id)

        await provider(conn, database, checked)
        assert await watching.log(conn) == [("After it", "pending")]


async def test_a_server_that_is_away_is_no_error_of_a_paused_inbox(
    database: DatabaseSettings,
) -> None:
    async with fake_imap() as server, connect(database) as conn:
        owner = await watching.user(conn)
        inbox_id = await watching.inbox(conn, owner, server.port)
        async with watching.scanning(database):
            await watching.scanned(conn, inbox_id)
            await paused(conn, inbox_id)
            await conn.execute(
                "UPDATE mailqueue.mailboxes SET last_scanned_at = now() - interval '9 d'"
            )
            server.instead["STATUS"] = b"TAG BYE\r\n"
            await until_waits(conn, inbox_id, 3_000, 3_600)

        assert await state(conn, inbox_id) == "paused"
        assert await make.scalar(conn, REFUSALS, inbox_id) == 0


async def test_a_worker_of_the_release_before_reports_nothing_of_a_paused_inbox(
    conn: Conn,
) -> None:
    owner, inbox_id, _ = await watching.person(conn, 1, 993)
    await paused(conn, inbox_id)
    key = "0197b8f0-0000-7000-8000-000000000001"
    assert await watching.record(conn, inbox_id, key, "During the pause") == 0
    query = "SELECT count(*) FROM mailqueue.notifications WHERE user_id = %s"
    assert await make.scalar(conn, query, owner) == 0
