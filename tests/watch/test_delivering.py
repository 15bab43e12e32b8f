"""A notification reaches Slack once, waits where Slack says so, and is unknown where it may."""

from uuid import UUID

import pytest

from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.watch import channels, notifications
from tests import make
from tests.adapters.sending.fake import SILENT, FakeReply, says
from tests.watch import watching
from tests.watch.fake_slack import fake_slack
from tests.watch.watching import TOKEN
from tests.webhooks.delivering import master

pytestmark = pytest.mark.anyio


async def prepared(conn: Conn, *, count: int = 1, webmail_url: str | None = None) -> list[UUID]:
    """Add a user with an inbox and a channel, and queue notifications; return their ids."""
    owner = await watching.user(conn)
    channel_id = await watching.channel(conn, owner)
    inbox_id = await watching.inbox(conn, owner, 1, webmail_url=webmail_url)
    return [
        await watching.queued(conn, owner, inbox_id, channel_id, number) for number in range(count)
    ]


async def until_state(conn: Conn, notification_id: UUID, state: str) -> None:
    async def has_state() -> bool:
        project_id = await make.project_named(conn)
        found = await notifications.get(conn, project_id, notification_id)
        return found.delivery_status == state

    await watching.wait(has_state, f"{state}: {await watching.log(conn)}")


async def test_a_notification_is_posted_with_a_link_and_delivered(
    database: DatabaseSettings,
) -> None:
    async with fake_slack() as slack, connect(database) as conn:
        url = "https://mail.example.com/find?id={message_id}"
        (one,) = await prepared(conn, webmail_url=url)
        async with watching.delivering(database, slack.port):
            await until_state(conn, one, "delivered")

        found = await notifications.get(conn, await make.project_named(conn), one)
        assert found.external_message_id == "1767323045.000001"
        assert found.delivered_at is not None
        (message,) = slack.messages
        assert message["channel"] == "C0123456789"
        button = message["blocks"][-1]["elements"][0]
        assert button["url"] == "https://mail.example.com/find?id=1%40example.com"
        assert "Bob &lt;bob@example.com&gt;" in message["blocks"][0]["text"]["text"]


@pytest.mark.parametrize("word", ["token_revoked", "channel_not_found", "not_in_channel"])
async def test_a_channel_in_error_waits_until_it_is_reconnected(
    word: str, database: DatabaseSettings
) -> None:
    async with fake_slack() as slack, connect(database) as conn:
        slack.script = [says(200, {"ok": False, "error": word})]
        one, two = await prepared(conn, count=2)
        project_id = await make.project_named(conn)
        async with watching.delivering(database, slack.port):

            async def is_in_error() -> bool:
                (found,) = await channels.list_page(conn, project_id, limit=2)
                return (found.status, found.last_error) == ("error", f"Slack: {word}")

            await watching.wait(is_in_error, "the error")
            assert [state for _, state in await watching.log(conn)] == ["pending", "pending"]
            why = await make.scalar(conn, "SELECT mailqueue.why(%s)", two)
            assert "its channel is in error and has to be reconnected" in why
            (broken,) = await channels.list_page(conn, project_id, limit=2)
            await channels.reconnect(
                conn,
                project_id,
                broken.id,
                bot_token=Secret(TOKEN),
                master=master(),
                by="tests",
            )
            await until_state(conn, one, "delivered")
            await until_state(conn, two, "delivered")

        assert sorted(slack.texts) == [
            "Bob &lt;bob@example.com&gt;: Mail 0",
            "Bob &lt;bob@example.com&gt;: Mail 1",
        ]


async def test_a_rate_limit_delays_the_channel_and_counts_no_attempt(
    database: DatabaseSettings,
) -> None:
    async with fake_slack() as slack, connect(database) as conn:
        slack.script = [FakeReply(429, headers={"retry-after": "3600"})]
        (one,) = await prepared(conn)
        async with watching.delivering(database, slack.port):

            async def is_delayed() -> bool:
                query = "SELECT next_at > now() + interval '50 min'"
                return bool(
                    await make.scalar(conn, f"{query} FROM mailqueue.notification_channels")
                )

            await watching.wait(is_delayed, "the pause")

        row = "SELECT status, attempts, run_at > now() + interval '50 min'"
        found = await make.rows(conn, f"{row} FROM mailqueue.notifications WHERE id = %s", one)
        assert found == [("pending", 0, True)]


async def test_a_message_that_may_have_arrived_is_unknown_until_a_person_retries_it(
    database: DatabaseSettings,
) -> None:
    async with fake_slack() as slack, connect(database) as conn:
        slack.script = [FakeReply(500)]
        (one,) = await prepared(conn)
        project_id = await make.project_named(conn)
        async with watching.delivering(database, slack.port):
            await until_state(conn, one, "unknown")
            assert slack.messages == []
            done = await notifications.retry(conn, project_id, [one], by="tests")
            assert done.notifications == 1
            await until_state(conn, one, "delivered")

        assert len(slack.messages) == 1


async def test_failures_are_retried_after_30_120_and_480_seconds_then_listed_as_failed(
    database: DatabaseSettings,
) -> None:
    async with fake_slack() as slack, connect(database) as conn:
        slack.script = [FakeReply(503)] * 4
        (one,) = await prepared(conn)
        waits = "SELECT extract(epoch FROM run_at - now())::integer FROM mailqueue.notifications"
        async with watching.delivering(database, slack.port):
            for tries, wait in ((1, 30), (2, 120), (3, 480)):

                async def is_tried(tries: int = tries) -> bool:
                    query = "SELECT attempts FROM mailqueue.notifications WHERE status = 'pending'"
                    return bool(await make.scalar(conn, query) == tries)

                await watching.wait(is_tried, "a failed attempt")
                assert wait - 10 < await make.scalar(conn, waits) <= wait
                assert [state for _, state in await watching.log(conn)] == ["failed"]
                await conn.execute("UPDATE mailqueue.notifications SET run_at = now()")
            await until_final(conn, one)

        found = await notifications.get(conn, await make.project_named(conn), one)
        assert (found.delivery_status, found.retry_count) == ("failed", 3)
        assert found.last_error == "Slack is unavailable (503)"


async def until_final(conn: Conn, notification_id: UUID) -> None:
    async def is_final() -> bool:
        query = "SELECT status = 'failed' FROM mailqueue.notifications WHERE id = %s"
        return bool(await make.scalar(conn, query, notification_id))

    await watching.wait(is_final, "the failure")


async def test_five_failures_of_slack_open_its_circuit_for_all(
    database: DatabaseSettings,
) -> None:
    async with fake_slack() as slack, connect(database) as conn:
        slack.script = [FakeReply(503)] * 5
        await prepared(conn, count=6)
        async with watching.delivering(database, slack.port):

            async def is_open() -> bool:
                query = (
                    "SELECT EXISTS (SELECT FROM mailqueue.queue_keys WHERE blocked_until > now())"
                )
                return bool(await make.scalar(conn, query))

            await watching.wait(is_open, "the circuit")

        health = "SELECT state, found FROM mailqueue.health WHERE name = 'inbox_watch'"
        ((state, found),) = await make.rows(conn, health)
        assert state == "warning"
        assert "slack kept failing" in found
        assert slack.messages == []


async def test_a_flood_or_silence_of_one_channel_does_not_delay_another(
    database: DatabaseSettings,
) -> None:
    async with fake_slack() as slack, connect(database) as conn:
        slack.script = [SILENT]
        await prepared(conn, count=30)
        other = await watching.user(conn, "eve@example.com")
        channel_id = await watching.channel(conn, other, slack="C9")
        inbox_id = await watching.inbox(conn, other, 1, address="eve@example.com")
        async with watching.delivering(database, slack.port):

            async def is_asked() -> bool:
                assert slack.server is not None
                return len(slack.server.requests) > 0

            await watching.wait(is_asked, "the first request")
            one = await watching.queued(conn, other, inbox_id, channel_id, 99)
            await until_state(conn, one, "delivered")
            slack.server.over.set()  # type: ignore[union-attr]

        by_flood = [message for message in slack.messages if message["channel"] != "C9"]
        assert len(by_flood) < 10, "others did not wait for the flood"


async def test_a_disconnected_channel_keeps_its_row_and_gets_nothing_more(
    database: DatabaseSettings,
) -> None:
    async with fake_slack() as slack, connect(database) as conn:
        (one,) = await prepared(conn)
        project_id = await make.project_named(conn)
        (known,) = await channels.list_page(conn, project_id, limit=2)
        await channels.disconnect(conn, project_id, known.id, by="tests")
        found = await notifications.get(conn, project_id, one)

        assert (found.delivery_status, found.last_error) == (
            "failed",
            "its channel was disconnected",
        )
        query = "SELECT status, sealed_token FROM mailqueue.notification_channels"
        assert await make.rows(conn, query) == [("disconnected", None)]
        again = await notifications.retry(conn, project_id, [one], by="tests")
        assert again.notifications == 0
        assert slack.messages == []


async def test_a_summary_tells_of_its_mails_and_decides_their_state(
    database: DatabaseSettings,
) -> None:
    async with fake_slack() as slack, connect(database) as conn:
        owner = await watching.user(conn)
        await watching.channel(conn, owner)
        await watching.inbox(conn, owner, 1)
        await conn.execute(
            "SELECT mailqueue.add_notifications(m, c.id, (SELECT jsonb_agg(jsonb_build_object("
            "'sender_name', '', 'sender_address', 'bob@example.com', 'subject', 'Mail ' || n,"
            " 'preview', '', 'received_at', now())) FROM generate_series(1, 12) AS n), now())"
            " FROM mailqueue.mailboxes AS m, mailqueue.notification_channels AS c"
        )
        await conn.execute(
            "UPDATE mailqueue.notifications SET run_at = now() WHERE kind = 'summary'"
        )
        async with watching.delivering(database, slack.port):

            async def is_sent() -> bool:
                return {state for _, state in await watching.log(conn)} == {"delivered"}

            await watching.wait(is_sent, "the summary")

        assert slack.texts == ["12 new emails in a minute"]
        text = slack.messages[0]["blocks"][0]["text"]["text"]
        assert "Mail 5" in text
        assert "and 7 more" in text
