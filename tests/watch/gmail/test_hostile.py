"""Whatever Google answers, no mail is lost, and no inbox is given up without need."""

import pytest

from mailqueue.adapters.mailboxes.gmail.session import MAX_BYTES
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.watch import inboxes
from tests import make
from tests.adapters.sending.fake import CLOSES, FakeReply, Request
from tests.watch import watching
from tests.watch.fake_gmail import fake_gmail, fault
from tests.watch.gmail.watched import failing, scanning, watched

pytestmark = pytest.mark.anyio
WAIT = "SELECT extract(epoch FROM run_at - now())::integer FROM mailqueue.mailboxes WHERE id = %s"


async def test_a_revoked_token_is_an_error_after_three_retries_and_tells_the_user(
    database: DatabaseSettings,
) -> None:
    async with fake_gmail() as server, connect(database) as conn:
        inbox_id = await watched(conn)
        server.refresh_tokens.clear()
        async with scanning(server, database):
            for tries in (1, 2, 3):

                async def is_tried(tries: int = tries) -> bool:
                    query = "SELECT refusals FROM mailqueue.mailboxes WHERE status = 'pending'"
                    return bool(await make.scalar(conn, query) == tries)

                await watching.wait(is_tried, "a refused token")
                assert 0 < await make.scalar(conn, WAIT, inbox_id) <= (30, 120, 480)[tries - 1]
                await conn.execute("UPDATE mailqueue.mailboxes SET run_at = now()")

            async def is_in_error() -> bool:
                found = await inboxes.get(conn, await make.project_named(conn), inbox_id)
                return found.status == "error"

            await watching.wait(is_in_error, "the error")

        [(kind, preview)] = await make.rows(
            conn, "SELECT kind, preview FROM mailqueue.notifications"
        )
        assert kind == "notice"
        assert "invalid_grant" in preview
        fix = "SELECT fix FROM mailqueue.health WHERE name = 'inbox_watch'"
        told = await make.scalar(conn, fix)
        assert told.startswith("mailqueue watch inbox connect ann@example.com --user ")
        everything = await make.rows(conn, "SELECT m::text FROM mailqueue.mailboxes AS m")
        assert "refresh-0" not in str(everything)


async def test_a_wrong_secret_of_the_client_gives_up_no_inbox(database: DatabaseSettings) -> None:
    async with fake_gmail() as server, connect(database) as conn:
        server.script["/token"] = [FakeReply(401, b'{"error": "invalid_client"}') for _ in range(6)]
        inbox_id = await watched(conn)
        async with scanning(server, database):
            for _ in range(5):
                await conn.execute("UPDATE mailqueue.mailboxes SET last_error = NULL")
                await failing(conn, inbox_id, "invalid_client")

        assert await make.scalar(conn, "SELECT refusals FROM mailqueue.mailboxes") == 0
        assert await watching.log(conn) == []


@pytest.mark.parametrize("reason", ["accessNotConfigured", "SERVICE_DISABLED"])
async def test_an_api_that_the_operator_switched_off_gives_up_no_inbox(
    reason: str, database: DatabaseSettings
) -> None:
    async with fake_gmail() as server, connect(database) as conn:
        inbox_id = await watched(conn)
        server.script["/profile"] = [fault(403, reason, "not enabled") for _ in range(6)]
        async with scanning(server, database):
            for _ in range(5):
                await conn.execute("UPDATE mailqueue.mailboxes SET last_error = NULL")
                await failing(conn, inbox_id, reason)

        assert await make.scalar(conn, "SELECT refusals FROM mailqueue.mailboxes") == 0
        assert await watching.log(conn) == []


@pytest.mark.parametrize(
    ("status", "reason"), [(429, "rateLimitExceeded"), (403, "userRateLimitExceeded")]
)
async def test_a_quota_waits_as_long_as_google_asks_and_loses_nothing(
    status: int, reason: str, database: DatabaseSettings
) -> None:
    async with fake_gmail() as server, connect(database) as conn:
        inbox_id = await watched(conn)
        async with scanning(server, database):
            await watching.scanned(conn, inbox_id)
            server.add("Later")
            slow = fault(status, reason, "Quota exceeded", retry_after="700")
            server.script["/history"] = [slow]
            await failing(conn, inbox_id, reason)
            assert 600 < await make.scalar(conn, WAIT, inbox_id) <= 700
            found = await make.rows(conn, "SELECT attempts, refusals FROM mailqueue.mailboxes")
            assert found == [(0, 0)]
            await watching.scanned(conn, inbox_id)

        assert await watching.log(conn) == [("Later", "pending")]


async def test_a_message_deleted_between_list_and_get_is_passed_over(
    database: DatabaseSettings,
) -> None:
    async with fake_gmail() as server, connect(database) as conn:
        inbox_id = await watched(conn)
        async with scanning(server, database):
            await watching.scanned(conn, inbox_id)
            gone, _ = server.add("Gone"), server.add("Here")
            missing = fault(404, "notFound", "Requested entity was not found.")
            server.script[f"/messages/{gone.id}"] = [missing]
            await watching.scanned(conn, inbox_id)

        assert await watching.log(conn) == [("Here", "pending")]


async def test_a_message_thrown_away_between_list_and_get_is_passed_over(
    database: DatabaseSettings,
) -> None:
    async with fake_gmail() as server, connect(database) as conn:
        inbox_id = await watched(conn)
        async with scanning(server, database):
            await watching.scanned(conn, inbox_id)
            gone, _ = server.add("Gone"), server.add("Here")

            def listed(request: Request) -> FakeReply:
                found = server.answer(request)
                gone.labels[:] = ["TRASH"]
                return found

            server.script["/history"] = [listed]
            await watching.scanned(conn, inbox_id)

        assert await watching.log(conn) == [("Here", "pending")]


async def test_an_enormous_message_and_headers_without_an_end_stop_nothing(
    database: DatabaseSettings,
) -> None:
    async with fake_gmail() as server, connect(database) as conn:
        inbox_id = await watched(conn)
        async with scanning(server, database):
            await watching.scanned(conn, inbox_id)
            server.add("Large", size=35_000_000)
            endless = server.add("x" * (MAX_BYTES + 1))
            await watching.scanned(conn, inbox_id)

        assert [subject for subject, _ in await watching.log(conn)] == ["Large", ""]
        assert endless.history == server.history


@pytest.mark.parametrize(
    ("path", "reply", "words"),
    [
        ("/history", FakeReply(200, b"[]"), "as expected"),
        ("/history", FakeReply(200, b'{"historyId": "x"}'), "as expected"),
        ("/history", FakeReply(200, b'{"nextPageToken": "1", "history": []}'), "as expected"),
        ("/history", FakeReply(500, b"<html>"), "HTTP 500"),
        ("/history", CLOSES, "not HTTP"),
        ("/history", fault(403, "insufficientPermissions", "no"), "insufficientPermissions"),
    ],
)
async def test_nonsense_is_an_error_of_that_scan_alone(
    path: str, reply: FakeReply, words: str, database: DatabaseSettings
) -> None:
    async with fake_gmail() as server, connect(database) as conn:
        inbox_id = await watched(conn)
        async with scanning(server, database):
            await watching.scanned(conn, inbox_id)
            server.add("Fine")
            server.script[path] = [reply] * 20
            await failing(conn, inbox_id, words)
            server.script.clear()
            await watching.scanned(conn, inbox_id)

        assert await watching.log(conn) == [("Fine", "pending")]


async def test_a_label_that_does_not_exist_is_the_owner_s_to_mend(
    database: DatabaseSettings,
) -> None:
    async with fake_gmail() as server, connect(database) as conn:
        inbox_id = await watched(conn, labels=("Label_9",))
        async with scanning(server, database):
            await watching.scanned(conn, inbox_id)
            await failing(conn, inbox_id, "Label_9")

        assert await make.scalar(conn, "SELECT refusals FROM mailqueue.mailboxes") == 1
