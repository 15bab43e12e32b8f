"""New mail of an inbox at Gmail is reported once; nothing else is."""

from datetime import UTC, datetime, timedelta

import pytest

from mailqueue.adapters.mailboxes.gmail.reader import MAX_MAILS
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.watch import inboxes
from mailqueue.watch.inboxes import InboxAction
from tests import make
from tests.adapters.sending.fake import FakeReply, Request, says
from tests.watch import watching
from tests.watch.fake_gmail import fake_gmail
from tests.watch.gmail.watched import failing, scanning, watched

pytestmark = pytest.mark.anyio


async def test_only_mail_that_arrives_after_the_first_scan_is_reported(
    database: DatabaseSettings,
) -> None:
    async with fake_gmail() as server, connect(database) as conn:
        server.add("Old")
        inbox_id = await watched(conn)
        async with scanning(server, database):
            await watching.scanned(conn, inbox_id)
            server.add("Grüße &amp; mehr", sender="Jörg <joerg@example.com>", snippet="1 &lt; 2")
            await watching.scanned(conn, inbox_id)
            await watching.scanned(conn, inbox_id)

        found = await make.rows(
            conn,
            "SELECT subject, sender_name, sender_address, preview FROM mailqueue.notifications",
        )
        assert found == [("Grüße &amp; mehr", "Jörg", "joerg@example.com", "1 < 2")]
        cursor = await make.scalar(conn, "SELECT cursor FROM mailqueue.mailboxes")
        assert cursor == {"INBOX": [1, server.history]}
        assert server.asked("/messages/") == 1


async def test_only_the_chosen_labels_are_reported_and_never_sent_mail_or_spam(
    database: DatabaseSettings,
) -> None:
    async with fake_gmail() as server, connect(database) as conn:
        inbox_id = await watched(conn, labels=("INBOX", "Label_1"))
        async with scanning(server, database):
            await watching.scanned(conn, inbox_id)
            server.add("Elsewhere", labels=("Label_2",))
            for label in ("SENT", "DRAFT", "SPAM", "TRASH"):
                server.add(label, labels=("INBOX", label))
            server.add("Both", labels=("INBOX", "Label_1"))
            server.add("Labelled", labels=("Label_1",))
            old = datetime.now(UTC) - timedelta(hours=1)
            server.add("Imported", at=old)
            await watching.scanned(conn, inbox_id)

        assert sorted(await watching.log(conn)) == [("Both", "pending"), ("Labelled", "pending")]


async def test_mail_of_two_labels_is_known_once_without_a_message_id(
    database: DatabaseSettings,
) -> None:
    async with fake_gmail() as server, connect(database) as conn:
        inbox_id = await watched(conn, labels=("INBOX", "Label_1"))
        async with scanning(server, database):
            await watching.scanned(conn, inbox_id)
            # It arrives after the first label was read, and before the second one is.
            nothing = says(200, {"historyId": str(server.history)})
            server.add("Both", labels=("INBOX", "Label_1"), message_id="")
            server.script["/history"] = [nothing]
            await watching.scanned(conn, inbox_id)
            await watching.scanned(conn, inbox_id)

        assert await watching.log(conn) == [("Both", "pending")]


async def test_mail_that_moves_to_another_chosen_label_meanwhile_is_reported(
    database: DatabaseSettings,
) -> None:
    async with fake_gmail() as server, connect(database) as conn:
        inbox_id = await watched(conn, labels=("INBOX", "Label_1"))
        async with scanning(server, database):
            await watching.scanned(conn, inbox_id)
            moved = server.add("Moved")

            def listed(request: Request) -> FakeReply:
                found = server.answer(request)
                moved.labels[:] = ["Label_1"]
                return found

            server.script["/history"] = [listed]
            await watching.scanned(conn, inbox_id)

        assert await watching.log(conn) == [("Moved", "pending")]


async def test_a_history_that_is_too_old_goes_on_from_now(database: DatabaseSettings) -> None:
    async with fake_gmail() as server, connect(database) as conn:
        inbox_id = await watched(conn)
        async with scanning(server, database):
            await watching.scanned(conn, inbox_id)
            server.add("Lost")
            server.oldest = server.history
            await watching.scanned(conn, inbox_id)
            server.add("New")
            await watching.scanned(conn, inbox_id)

        assert await watching.log(conn) == [("New", "pending")]


async def test_a_resumed_inbox_reports_nothing_of_its_pause(database: DatabaseSettings) -> None:
    async with fake_gmail() as server, connect(database) as conn:
        inbox_id = await watched(conn)
        project_id = await make.project_named(conn)
        async with scanning(server, database):
            await watching.scanned(conn, inbox_id)
            await inboxes.switch(conn, project_id, inbox_id, InboxAction.PAUSE, by="tests")
            server.add("During the pause")
            await inboxes.switch(conn, project_id, inbox_id, InboxAction.RESUME, by="tests")
            await watching.scanned(conn, inbox_id)
            server.add("After it")
            await watching.scanned(conn, inbox_id)

        assert await watching.log(conn) == [("After it", "pending")]


async def test_a_flood_is_read_in_several_scans_without_a_gap(database: DatabaseSettings) -> None:
    async with fake_gmail() as server, connect(database) as conn:
        server.page = 30
        inbox_id = await watched(conn)
        async with scanning(server, database):
            await watching.scanned(conn, inbox_id)
            for number in range(MAX_MAILS + 25):
                server.add(f"Mail {number}")

            async def has_all() -> bool:
                query = "SELECT count(*) FROM mailqueue.notifications WHERE kind = 'mail'"
                return bool(await make.scalar(conn, query) == MAX_MAILS + 25)

            await watching.scanned(conn, inbox_id)
            await watching.wait(has_all, "all mail")

        assert server.asked("/messages/") == MAX_MAILS + 25


async def test_an_access_token_is_renewed_five_minutes_before_its_end_and_when_refused(
    database: DatabaseSettings,
) -> None:
    async with fake_gmail() as server, connect(database) as conn:
        inbox_id = await watched(conn)
        async with scanning(server, database):
            await watching.scanned(conn, inbox_id)
            await watching.scanned(conn, inbox_id)
            assert server.issued == 1
            server.access_tokens.clear()  # Google ended it early
            server.lifetime = 300
            await watching.scanned(conn, inbox_id)
            assert server.issued == 2
            await watching.scanned(conn, inbox_id)
            assert server.issued == 3, "it was to end within five minutes"


async def test_a_worker_without_settings_of_gmail_leaves_the_inbox_to_others(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        inbox_id = await watched(conn)
        async with watching.scanning(database):
            await failing(conn, inbox_id, "no settings of gmail")

        assert await make.scalar(conn, "SELECT attempts FROM mailqueue.mailboxes") == 0
