"""Mail that arrives while an inbox is watched is reported once; nothing else is."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.watch import inboxes, users
from mailqueue.watch.inboxes import InboxAction
from tests import make
from tests.watch import watching
from tests.watch.fake_imap import FakeFolder, fake_imap, mail

pytestmark = pytest.mark.anyio


async def default(conn: Conn) -> UUID:
    return await make.project_named(conn)


async def test_only_mail_that_arrives_after_the_first_scan_is_reported(
    database: DatabaseSettings,
) -> None:
    async with fake_imap() as server, connect(database) as conn:
        box = server.folders["INBOX"]
        box.add(mail(1, subject="Old"))
        owner = await watching.user(conn)
        await watching.channel(conn, owner)
        inbox_id = await watching.inbox(conn, owner, server.port)
        async with watching.scanning(database):
            await watching.scanned(conn, inbox_id)
            box.add(mail(2, subject="New"))
            await watching.scanned(conn, inbox_id)
            await watching.scanned(conn, inbox_id)

        assert await watching.log(conn) == [("New", "pending")]
        found = await make.rows(
            conn,
            "SELECT sender_name, sender_address, preview, kind FROM mailqueue.notifications",
        )
        assert found == [("Bob", "bob@example.com", "How are you?", "mail")]


async def test_moved_and_copied_mail_is_not_reported(database: DatabaseSettings) -> None:
    async with fake_imap() as server, connect(database) as conn:
        box = server.folders["INBOX"]
        server.folders["Work"] = FakeFolder()
        owner = await watching.user(conn)
        await watching.channel(conn, owner)
        inbox_id = await watching.inbox(conn, owner, server.port, folders=("INBOX", "Work"))
        async with watching.scanning(database):
            await watching.scanned(conn, inbox_id)
            # Moved into the folder: it arrived at the server before the last scan.
            box.add(mail(1, subject="Moved"), at=datetime.now(UTC) - timedelta(hours=1))
            box.add(mail(2, subject="Here"))
            await watching.scanned(conn, inbox_id)
            server.folders["Work"].add(mail(2, subject="Here"))  # copied
            await watching.scanned(conn, inbox_id)

        assert await watching.log(conn) == [("Here", "pending")]


async def test_a_new_uidvalidity_and_a_resumed_inbox_report_nothing_of_before(
    database: DatabaseSettings,
) -> None:
    async with fake_imap() as server, connect(database) as conn:
        box = server.folders["INBOX"]
        owner = await watching.user(conn)
        await watching.channel(conn, owner)
        inbox_id = await watching.inbox(conn, owner, server.port)
        async with watching.scanning(database):
            await watching.scanned(conn, inbox_id)
            box.validity = 2
            box.add(mail(1, subject="Renumbered"))
            await watching.scanned(conn, inbox_id)
            project_id = await default(conn)
            paused = await inboxes.switch(conn, project_id, inbox_id, InboxAction.PAUSE, by="tests")
            assert (paused.status, paused.next_scan_at) == ("paused", None)
            box.add(mail(2, subject="During the pause"))
            await inboxes.switch(conn, project_id, inbox_id, InboxAction.RESUME, by="tests")
            await watching.scanned(conn, inbox_id)
            box.add(mail(3, subject="After it"))
            await watching.scanned(conn, inbox_id)

        assert await watching.log(conn) == [("After it", "pending")]


async def test_a_paused_user_is_told_nothing_of_that_time(database: DatabaseSettings) -> None:
    async with fake_imap() as server, connect(database) as conn:
        box = server.folders["INBOX"]
        owner = await watching.user(conn)
        await watching.channel(conn, owner)
        inbox_id = await watching.inbox(conn, owner, server.port)
        project_id = await default(conn)
        async with watching.scanning(database):
            await watching.scanned(conn, inbox_id)
            await users.pause(conn, project_id, owner, is_paused=True, by="tests")
            box.add(mail(1, subject="Quiet"))
            await watching.scanned(conn, inbox_id)
            await users.pause(conn, project_id, owner, is_paused=False, by="tests")
            box.add(mail(2, subject="Loud"))
            await watching.scanned(conn, inbox_id)

        assert await watching.log(conn) == [("Loud", "pending")]


async def test_more_than_ten_in_a_minute_become_one_summary(database: DatabaseSettings) -> None:
    async with fake_imap() as server, connect(database) as conn:
        box = server.folders["INBOX"]
        owner = await watching.user(conn)
        await watching.channel(conn, owner)
        inbox_id = await watching.inbox(conn, owner, server.port)
        async with watching.scanning(database):
            await watching.scanned(conn, inbox_id)
            for number in range(10):
                box.add(mail(number, subject=f"Mail {number}"))
            await watching.scanned(conn, inbox_id)
            assert {state for _, state in await watching.log(conn)} == {"pending"}
            for number in range(10, 15):
                box.add(mail(number, subject=f"Mail {number}"))
            await watching.scanned(conn, inbox_id)

        found = await make.rows(
            conn,
            "SELECT kind, delivery_status, count(*) FROM mailqueue.notification_log"
            " GROUP BY 1, 2 ORDER BY 1",
        )
        assert found == [("mail", "batched", 15), ("summary", "pending", 1)]


async def test_a_refused_login_is_an_error_after_three_retries_and_tells_the_user(
    database: DatabaseSettings,
) -> None:
    async with fake_imap() as server, connect(database) as conn:
        owner = await watching.user(conn)
        await watching.channel(conn, owner)
        inbox_id = await watching.inbox(conn, owner, server.port, password="wrong")
        waits = "SELECT extract(epoch FROM run_at - now())::integer FROM mailqueue.mailboxes"
        async with watching.scanning(database):
            for tries in (1, 2, 3):

                async def is_tried(tries: int = tries) -> bool:
                    query = "SELECT refusals FROM mailqueue.mailboxes WHERE status = 'pending'"
                    return bool(await make.scalar(conn, query) == tries)

                await watching.wait(is_tried, "a refused login")
                left = await make.scalar(conn, waits)
                assert 0 < left <= (30, 120, 480)[tries - 1]
                await conn.execute("UPDATE mailqueue.mailboxes SET run_at = now()")

            async def is_in_error() -> bool:
                found = await inboxes.get(conn, await default(conn), inbox_id)
                return found.status == "error"

            await watching.wait(is_in_error, "the error")

        assert server.logins == 4
        notices = await make.rows(
            conn, "SELECT kind, subject, preview FROM mailqueue.notifications"
        )
        assert notices == [
            (
                "notice",
                "Inbox ann@example.com is no longer watched: reconnect it",
                "the server refused the login",
            )
        ]


async def test_a_folder_of_spam_is_not_watched_whatever_its_name(
    database: DatabaseSettings,
) -> None:
    async with fake_imap() as server, connect(database) as conn:
        server.folders["Ungewollt"] = FakeFolder(uses=r"\Junk")
        owner = await watching.user(conn)
        await watching.channel(conn, owner)
        await watching.inbox(conn, owner, server.port, folders=("Ungewollt",))
        async with watching.scanning(database):

            async def is_refused() -> bool:
                query = "SELECT last_error LIKE '%%junk mail%%' FROM mailqueue.mailboxes"
                return bool(await make.scalar(conn, query))

            await watching.wait(is_refused, "a refusal")


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("STATUS", b"* STATUS INBOX (MESSAGES 1)\r\nTAG OK done\r\n"),
        ("STATUS", b"TAG BYE\r\n"),
        ("CAPABILITY", b"\xff\xfe not imap\r\n"),
        ("UID", b"* 1 FETCH (UID 1 BODY[] {99999999}\r\n"),
        ("UID", b"* SEARCH 1\r\nTAG NO failed\r\n"),
    ],
)
async def test_a_server_that_speaks_nonsense_is_that_inbox_alone(
    command: str, answer: bytes, database: DatabaseSettings
) -> None:
    async with fake_imap() as odd, fake_imap() as server, connect(database) as conn:
        owner = await watching.user(conn)
        await watching.channel(conn, owner)
        bad = await watching.inbox(conn, owner, odd.port, address="bad@example.com")
        good = await watching.inbox(conn, owner, server.port)
        async with watching.scanning(database):
            if command == "UID":
                await watching.scanned(conn, bad)
                odd.folders["INBOX"].add(mail(7, subject="Behind it"))
            odd.instead[command] = answer
            query = "UPDATE mailqueue.mailboxes SET run_at = now() WHERE id = %s"
            await conn.execute(query, (bad,))
            await watching.scanned(conn, good)
            server.folders["INBOX"].add(mail(8, subject="Fine"))
            await watching.scanned(conn, good)
            if answer != b"* SEARCH 1\r\nTAG NO failed\r\n":

                async def has_failed() -> bool:
                    error = "SELECT last_error IS NOT NULL FROM mailqueue.mailboxes WHERE id = %s"
                    return bool(await make.scalar(conn, error, bad))

                await watching.wait(has_failed, "the fault of the odd one")

        assert ("Fine", "pending") in await watching.log(conn)
