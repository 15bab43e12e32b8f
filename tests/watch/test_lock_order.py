"""Reports, settlements and ends of channels lock rows in one order: channels first."""

import asyncio

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.ports.channel import MessageReport, PostResult
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.watch import whatsapp
from mailqueue.watch.store import work
from tests import make
from tests.mail.claim.steps import opened, until_waiting
from tests.watch.texting import STATES, prepared

pytestmark = pytest.mark.anyio
FAILED = MessageReport("SM1", "failed", PostResult.CHANNEL, "Twilio: 63007")
RETURNED = """
    UPDATE mailqueue.notifications SET status = 'pending', claim_no = NULL, posting_claim = NULL
     WHERE status = 'assigned'
"""
SENT = """
    UPDATE mailqueue.notifications SET status = 'sent', claim_no = NULL, posting_claim = NULL,
           external_message_id = 'SM1' WHERE status = 'assigned'
"""


async def claimed(conn: Conn) -> tuple[object, object]:
    (one,) = await prepared(conn)
    await conn.execute("UPDATE mailqueue.notifications SET status = 'assigned', claim_no = 1")
    channel_id = await make.scalar(conn, "SELECT id FROM mailqueue.notification_channels")
    return one, channel_id


@pytest.mark.parametrize("outcome", [RETURNED, SENT], ids=["returned", "sent"])
async def test_a_report_of_failure_while_its_notification_is_settled_is_no_deadlock(
    database: DatabaseSettings, outcome: str
) -> None:
    async with opened(database, 3) as (conn, worker, api):
        one, channel_id = await claimed(conn)
        async with worker.transaction():
            # The settlement holds the notification; what it writes ends in a look at the channel.
            await worker.execute("SELECT FROM mailqueue.notifications FOR NO KEY UPDATE")
            reporting = asyncio.create_task(
                whatsapp.record_report(api, channel_id, one, FAILED)  # type: ignore[arg-type]
            )
            await until_waiting(conn, api)
            await worker.execute(outcome.encode())
        assert await reporting

        state = "pending" if outcome is RETURNED else "failed"
        query = "SELECT status FROM mailqueue.notification_channels"
        assert await make.rows(conn, STATES) in ([(state,)], [("pending",)])
        assert await make.rows(conn, query) == [("active",) if outcome is RETURNED else ("error",)]


async def test_a_report_that_was_recorded_before_its_process_died_is_applied_by_the_next(
    database: DatabaseSettings,
) -> None:
    async with opened(database, 1) as (conn,):
        one, channel_id = await claimed(conn)
        await conn.execute(SENT.encode())
        report = '{"word": "delivered", "meaning": "delivered"}'
        query = "SELECT mailqueue.record_receipt(%s, %s, 'SM1', %s)"
        assert await make.scalar(conn, query, channel_id, one, report) is True
        assert await make.rows(conn, STATES) == [("sent",)]
        again = MessageReport("SM1", "delivered", PostResult.DELIVERED)

        assert not await whatsapp.record_report(conn, channel_id, one, again)  # type: ignore[arg-type]
        assert await make.rows(conn, STATES) == [("delivered",)]


async def test_a_settlement_waits_for_the_channel_before_it_holds_a_notification(
    database: DatabaseSettings,
) -> None:
    async with opened(database, 3) as (conn, worker, api):
        _, channel_id = await claimed(conn)
        async with api.transaction():
            await api.execute("SELECT FROM mailqueue.notification_channels FOR NO KEY UPDATE")
            locking = asyncio.create_task(
                work.lock_channels(worker, {channel_id})  # type: ignore[arg-type]
            )
            await until_waiting(conn, worker)
            # What ends a channel goes on to its notifications.
            await api.execute("SELECT FROM mailqueue.notifications FOR NO KEY UPDATE")
        await locking
