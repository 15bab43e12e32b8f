"""Nothing is sent to a phone without consent, which a word of the person ends."""

from datetime import UTC, datetime

import psycopg
import pytest

from mailqueue.core.errors import InvalidField
from mailqueue.core.secret import Secret
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.watch import channels, notifications, whatsapp
from tests import make
from tests.adapters.sending.fake import FakeReply, Request
from tests.watch import watching
from tests.watch.fake_twilio import fake_twilio
from tests.watch.texting import (
    listening,
    prepared,
    reply,
    report,
    report_path,
    tell,
    until_state,
)
from tests.watch.watching import AUTH_TOKEN
from tests.webhooks.delivering import master

pytestmark = pytest.mark.anyio


async def test_stop_ends_the_channel_with_its_word_and_start_opens_it_again(
    database: DatabaseSettings,
) -> None:
    async with fake_twilio() as twilio, connect(database) as conn, listening(database) as api:
        (one,) = await prepared(conn)
        project_id = await make.project_named(conn)
        path = f"/channels/whatsapp/{project_id}"
        assert await tell(api, path, reply("Stop!", 1)) == 200

        (found,) = await channels.list_page(conn, project_id, limit=2)
        assert (found.status, found.last_error) == ("opted_out", "the person opted out: STOP")
        assert found.consent_withdrawn_at is not None
        assert await watching.log(conn) == [("Mail 0", "failed")]
        assert (await notifications.retry(conn, project_id, [one], by="tests")).notifications == 0
        again = await whatsapp.reconnect(
            conn, project_id, found.id, auth_token=Secret(AUTH_TOKEN), master=master(), by="tests"
        )
        assert again.status == "opted_out", "only the person ends it"

        assert await tell(api, path, reply("START", 2)) == 200
        (found,) = await channels.list_page(conn, project_id, limit=2)
        assert (found.status, found.consent_source) == ("active", "reply")
        # Twilio's requests have no time: these were sent before.
        assert await tell(api, path, reply("Stop!", 1)) == 200
        (found,) = await channels.list_page(conn, project_id, limit=2)
        assert found.status == "active"
        assert await tell(api, path, reply("STOP", 3)) == 200
        assert await tell(api, path, reply("START", 2)) == 200
        (found,) = await channels.list_page(conn, project_id, limit=2)
        assert found.status == "opted_out"
        assert twilio.messages == []
        query = "SELECT action FROM mailqueue.audit_events WHERE action LIKE 'channel.opted%'"
        assert await make.rows(conn, f"{query} ORDER BY id") == [
            ("channel.opted_out",),
            ("channel.opted_in",),
            ("channel.opted_out",),
        ]


@pytest.mark.parametrize("word", ["opted_out", "disconnected"])
async def test_what_was_on_its_way_when_the_channel_ended_does_not_wait_for_ever(
    word: str, database: DatabaseSettings
) -> None:
    async with fake_twilio() as twilio, connect(database) as conn:
        (one,) = await prepared(conn)
        project_id = await make.project_named(conn)
        (known,) = await channels.list_page(conn, project_id, limit=2)

        def ended(request: Request) -> FakeReply:
            query = "SELECT mailqueue.opt_out_channel(%s, 'STOP')"
            if word == "disconnected":
                query = f"SELECT mailqueue.disconnect_channel('{project_id}', %s, 'tests')"
            url = database.url.reveal()
            with psycopg.connect(url, autocommit=True) as meanwhile:
                meanwhile.execute(query, (known.id,))
            return FakeReply(503)

        twilio.script = [ended]
        async with watching.texting(database, twilio.port):
            await until_state(conn, one, "failed")

        error = await make.scalar(conn, "SELECT last_error FROM mailqueue.notifications")
        expected = {"opted_out": "the person opted out", "disconnected": "its channel was"}
        assert error.startswith(expected[word])


async def test_a_failed_report_after_an_opt_out_sends_nothing_again(
    database: DatabaseSettings,
) -> None:
    async with fake_twilio() as twilio, connect(database) as conn, listening(database) as api:
        (one,) = await prepared(conn)
        async with watching.texting(database, twilio.port):
            await until_state(conn, one, "sent")
        replies = f"/channels/whatsapp/{await make.project_named(conn)}"
        assert await tell(api, replies, reply("STOP", 5)) == 200
        path = await report_path(conn, one)
        assert await tell(api, path, report("undelivered", "30003")) == 200

        assert await watching.log(conn) == [("Mail 0", "failed")]


async def test_a_reply_opens_a_day_in_which_free_text_is_sent(database: DatabaseSettings) -> None:
    async with fake_twilio() as twilio, connect(database) as conn, listening(database) as api:
        (one,) = await prepared(conn)
        path = f"/channels/whatsapp/{await make.project_named(conn)}"
        assert await tell(api, path, reply("thanks", 1)) == 200
        query = "SELECT window_until - now() BETWEEN '23 h' AND '24 h'"
        assert await make.scalar(conn, f"{query} FROM mailqueue.channel_consents")
        async with watching.texting(database, twilio.port):
            await until_state(conn, one, "sent")

        assert twilio.messages[0]["Body"].startswith("Mail 0\n")


async def test_nothing_is_sent_without_consent_and_an_opt_out_outlives_the_channel(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        owner = await watching.user(conn)
        channel_id = await watching.phone(conn, owner)
        assert await make.scalar(conn, "SELECT mailqueue.opt_out_channel(%s, 'STOP')", channel_id)
        project_id = await make.project_named(conn)
        await channels.disconnect(conn, project_id, channel_id, by="tests")
        with pytest.raises(InvalidField, match="withdrew consent later") as caught:
            await watching.phone(conn, owner, given_at=datetime(2020, 5, 1, tzinfo=UTC))
        assert caught.value.field == "consent.given_at"
        await watching.phone(conn, owner)


async def test_a_channel_whose_consent_is_deleted_is_disconnected(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        await prepared(conn)
        await conn.execute("DELETE FROM mailqueue.channel_consents")

        query = "SELECT status, sealed_token FROM mailqueue.notification_channels"
        assert await make.rows(conn, query) == [("disconnected", None)]
        assert await watching.log(conn) == [("Mail 0", "failed")]
