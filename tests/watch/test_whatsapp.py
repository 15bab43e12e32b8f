"""A notification reaches a phone once, and follows what Twilio reports."""

from collections.abc import Callable

import orjson
import pytest

from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.watch import channels, notifications
from tests import make
from tests.adapters.sending.fake import FakeReply, Request
from tests.watch import watching
from tests.watch.fake_twilio import fake_twilio, fault, message_id
from tests.watch.texting import (
    STATES,
    listening,
    prepared,
    report,
    report_path,
    tell,
    until,
    until_state,
)
from tests.watch.watching import ACCOUNT, AUTH_TOKEN, PHONE, PUBLIC_URL, SENDER, TEMPLATE

pytestmark = pytest.mark.anyio


async def test_a_message_is_sent_by_the_template_and_delivered_when_twilio_reports_so(
    database: DatabaseSettings,
) -> None:
    async with fake_twilio() as twilio, connect(database) as conn, listening(database) as api:
        (one,) = await prepared(conn)
        async with watching.texting(database, twilio.port):
            await until_state(conn, one, "sent")

        (message,) = twilio.messages
        path = await report_path(conn, one)
        assert message["StatusCallback"] == PUBLIC_URL + path
        assert message["ContentSid"] == TEMPLATE
        assert orjson.loads(message["ContentVariables"])["3"] == "Mail 0"
        # Out of order, repeated, late.
        for status in ("delivered", "sent", "delivered", "queued", "failed", "read"):
            assert await tell(api, path, report(status)) == 200
        found = await notifications.get(conn, await make.project_named(conn), one)
        assert (found.delivery_status, found.external_message_id) == ("delivered", message_id(1))
        assert found.delivered_at is not None


async def test_a_report_before_the_outcome_is_written_counts(database: DatabaseSettings) -> None:
    async with fake_twilio() as twilio, connect(database) as conn, listening(database) as api:
        (one,) = await prepared(conn)
        path = await report_path(conn, one)
        await conn.execute("UPDATE mailqueue.notifications SET status = 'assigned', claim_no = 0")
        assert await tell(api, path, report("delivered")) == 200
        assert await make.rows(conn, STATES) == [("assigned",)]
        await conn.execute("UPDATE mailqueue.notifications SET status = 'pending', claim_no = NULL")
        async with watching.texting(database, twilio.port):
            await until_state(conn, one, "delivered")


async def test_a_report_resolves_what_was_unknown(database: DatabaseSettings) -> None:
    async with fake_twilio() as twilio, connect(database) as conn, listening(database) as api:
        twilio.script = [FakeReply(500)]
        (one,) = await prepared(conn)
        async with watching.texting(database, twilio.port):
            await until_state(conn, one, "held")
        assert await tell(api, await report_path(conn, one), report("delivered", number=7)) == 200

        found = await notifications.get(conn, await make.project_named(conn), one)
        assert (found.delivery_status, found.external_message_id) == ("delivered", message_id(7))


@pytest.mark.parametrize(
    ("code", "state", "error", "channel"),
    [
        ("63024", "failed", "Twilio: the number is not valid (63024)", "active"),
        ("30003", "pending", "Twilio: the phone is not reachable (30003)", "active"),
        ("63016", "pending", "Twilio: free text outside of the 24 hours", "active"),
        ("63007", "pending", "Twilio: the sender number is not one", "error"),
        ("21610", "failed", "Twilio: the person opted out (21610)", "opted_out"),
        ("77777", "failed", "Twilio: 77777", "active"),
    ],
)
async def test_an_error_that_is_reported_later_leads_where_its_code_says(
    code: str, state: str, error: str, channel: str, database: DatabaseSettings
) -> None:
    async with fake_twilio() as twilio, connect(database) as conn, listening(database) as api:
        (one,) = await prepared(conn)
        await conn.execute("UPDATE mailqueue.channel_consents SET window_until = now() + '1 h'")
        async with watching.texting(database, twilio.port):
            await until_state(conn, one, "sent")
        assert "Body" in twilio.messages[0]
        path = await report_path(conn, one)
        for _ in range(2):
            assert await tell(api, path, report("undelivered", code)) == 200

        query = "SELECT status, last_error, attempts FROM mailqueue.notifications"
        ((status, why, attempts),) = await make.rows(conn, query)
        assert (status, attempts) == (state, 1)
        assert why.startswith(error)
        query = "SELECT status FROM mailqueue.notification_channels"
        assert await make.rows(conn, query) == [(channel,)]
        if code == "63016":
            await conn.execute("UPDATE mailqueue.notification_channels SET next_at = now()")
            async with watching.texting(database, twilio.port):
                await until_state(conn, one, "sent")
            assert twilio.messages[1]["ContentSid"] == TEMPLATE
            # A late report of the first message is not one of the second.
            assert await tell(api, path, report("delivered")) == 200
            assert await make.rows(conn, STATES) == [("sent",)]


async def test_errors_that_pass_are_retried_after_30_120_and_480_seconds_then_failed(
    database: DatabaseSettings,
) -> None:
    async with fake_twilio() as twilio, connect(database) as conn, listening(database) as api:
        (one,) = await prepared(conn)
        path = await report_path(conn, one)
        query = "SELECT status, round(extract(epoch FROM run_at - now()) / 10) * 10"
        query += " FROM mailqueue.notifications"
        async with watching.texting(database, twilio.port):
            for number, wait in enumerate((30, 120, 480), 1):
                await until_state(conn, one, "sent")
                assert await tell(api, path, report("failed", "30001", number)) == 200
                assert await make.rows(conn, query) == [("pending", wait)]
                await conn.execute("UPDATE mailqueue.notification_channels SET next_at = now()")
                await conn.execute("UPDATE mailqueue.notifications SET run_at = now()")
            await until_state(conn, one, "sent")
            assert await tell(api, path, report("failed", "30001", 4)) == 200

        assert await make.rows(conn, STATES) == [("failed",)]
        assert len(twilio.messages) == 4


def _slow(request: Request) -> FakeReply:
    return fault(429, 20429, retry_after="3600")


@pytest.mark.parametrize(
    ("answer", "condition"),
    [
        (_slow, "bool_and(next_at > now() + interval '50 min') FROM mailqueue.workspace_rates"),
        (fault(401, 20003), "status = 'error' FROM mailqueue.notification_channels"),
        (fault(400, 21610), "status = 'opted_out' FROM mailqueue.notification_channels"),
    ],
)
async def test_an_answer_that_is_about_the_channel_is_written_there(
    answer: FakeReply | Callable[[Request], FakeReply],
    condition: str,
    database: DatabaseSettings,
    capfd: pytest.CaptureFixture[str],
) -> None:
    async with fake_twilio() as twilio, connect(database) as conn:
        twilio.script = [answer]
        await prepared(conn)
        async with watching.texting(database, twilio.port):
            await until(conn, condition, "the channel")

        (found,) = await channels.list_page(conn, await make.project_named(conn), limit=2)
        assert PHONE not in (found.last_error or "")
        rates = "SELECT workspace FROM mailqueue.workspace_rates ORDER BY workspace"
        assert await make.rows(conn, rates) == [(SENDER,), (ACCOUNT,)]
    printed = "".join(capfd.readouterr())
    assert PHONE not in printed
    assert AUTH_TOKEN not in printed


async def test_five_failures_open_the_circuit_of_whatsapp_alone(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        owner = await watching.user(conn)
        await watching.phone(conn, owner)
        await watching.channel(conn, owner)
        await conn.execute(
            "SELECT mailqueue.note_channel_answers(array_agg(id ORDER BY n), array_agg(1),"
            " array_agg(NULL::text), array_agg(NULL::interval),"
            " array_agg(channel_type = 'whatsapp' ORDER BY n))"
            " FROM mailqueue.notification_channels, generate_series(1, 5) AS n"
        )
        query = "SELECT key, blocked_until > now() FROM mailqueue.queue_keys"
        assert await make.rows(conn, query) == [("whatsapp", True)]


async def test_rates_are_kept_by_phone_sender_and_account(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        (first, _) = await prepared(conn, 2)
        begin = "SELECT mailqueue.begin_probe_notifications(notification_channel_id, '1 min')"
        begin += " FROM mailqueue.notifications WHERE id = %s"
        assert await make.scalar(conn, begin, first) is True
        assert await make.scalar(conn, begin, first) is False
        query = "SELECT round(extract(epoch FROM next_at - now())) FROM"
        assert await make.scalar(conn, f"{query} mailqueue.notification_channels") == 6
        for name in (SENDER, ACCOUNT):
            await conn.execute("UPDATE mailqueue.notification_channels SET next_at = now()")
            await conn.execute(
                "UPDATE mailqueue.workspace_rates SET next_at = now() + '1 h' WHERE workspace = %s",
                (name,),
            )
            assert await make.scalar(conn, begin, first) is False
            await conn.execute("UPDATE mailqueue.workspace_rates SET next_at = now()")
        assert await make.scalar(conn, begin, first) is True
