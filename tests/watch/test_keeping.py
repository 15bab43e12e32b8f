"""How long notifications are kept, and who may reach them."""

import pytest
from psycopg import errors

from mailqueue.core.retained import RETAINED
from mailqueue.db.fetch import Conn
from mailqueue.maintenance.store.tasks import sweep_retained
from tests import make
from tests.watch import watching

pytestmark = pytest.mark.anyio
BY_KIND = {one.kind: one for one in RETAINED}
KEY = "0197b8f0-0000-7000-8000-0000000000d1"


async def test_a_message_is_known_for_48_hours_and_its_notification_kept_for_30_days(
    conn: Conn,
) -> None:
    _, inbox_id, _ = await watching.person(conn, 1, 1)
    assert await watching.record(conn, inbox_id, KEY, "First") == 1
    assert await watching.record(conn, inbox_id, KEY, "Again") == 0
    await conn.execute("UPDATE mailqueue.seen_messages SET seen_at = now() - interval '47 h'")
    assert await watching.record(conn, inbox_id, KEY, "Within") == 0
    await conn.execute("UPDATE mailqueue.seen_messages SET seen_at = now() - interval '49 h'")
    assert await watching.record(conn, inbox_id, KEY, "Later") == 1
    assert [subject for subject, _ in await watching.log(conn)] == ["First", "Later"]

    await conn.execute(
        "UPDATE mailqueue.notifications SET created_at = now() - interval '31 d'"
        " WHERE subject = 'First'"
    )
    assert await sweep_retained(conn, BY_KIND["notifications"]) == 1
    assert [subject for subject, _ in await watching.log(conn)] == ["Later"]
    await conn.execute("UPDATE mailqueue.seen_messages SET seen_at = now() - interval '50 h'")
    assert await sweep_retained(conn, BY_KIND["seen_messages"]) == 1


async def test_a_late_scan_records_nothing(conn: Conn) -> None:
    _, inbox_id, _ = await watching.person(conn, 1, 1)
    await watching.record(conn, inbox_id, KEY, "First")
    late = await make.scalar(
        conn, "SELECT mailqueue.record_scan(%s, 2, '{\"INBOX\": [9, 9]}', '[{}]')", inbox_id
    )

    assert late == 0
    assert await make.scalar(conn, "SELECT cursor FROM mailqueue.mailboxes") == {}


async def test_a_tenant_reaches_nothing_of_another(conn: Conn) -> None:
    owner, inbox_id, channel_id = await watching.person(conn, 1, 1)
    await watching.record(conn, inbox_id, KEY, "Secret")
    shop = await make.project_named(conn)
    news = await make.project(conn, "news")
    await conn.execute("SELECT set_config('mailqueue.project', %s, false)", [str(news)])
    async with conn.transaction(force_rollback=True):
        await conn.execute("SET LOCAL ROLE mailqueue_api")
        for relation in (
            "inbox_users",
            "filter_rules",
            "muted_senders",
            "email_accounts",
            "delivery_channels",
            "notification_log",
        ):
            assert await make.rows(conn, f"SELECT id FROM mailqueue.{relation}") == []
        assert await make.rows(conn, "SELECT id FROM mailqueue.notification_channels") == []
        for statement, given in (
            ("SELECT mailqueue.add_inbox_user(%s, 'eve@example.com', 'eve')", (shop,)),
            ("SELECT mailqueue.pause_inbox_user(%s, %s, true, 'eve')", (shop, owner)),
            ("SELECT mailqueue.remove_mailbox(%s, %s, 'eve')", (shop, inbox_id)),
            ("SELECT mailqueue.switch_mailbox(%s, %s, 'pause', 'eve')", (shop, inbox_id)),
            ("SELECT mailqueue.disconnect_channel(%s, %s, 'eve')", (shop, channel_id)),
            ("SELECT mailqueue.retry_notifications(%s, '{}', 'eve')", (shop,)),
        ):
            with pytest.raises(errors.InsufficientPrivilege):
                async with conn.transaction():
                    await conn.execute(statement.encode(), given)
    # With its own project it names rows of another, and finds none.
    async with conn.transaction(force_rollback=True):
        query = "SELECT mailqueue.switch_mailbox(%s, %s, 'pause', 'eve')"
        assert await make.scalar(conn, query, news, inbox_id) == "missing"
        query = "SELECT mailqueue.pause_inbox_user(%s, %s, true, 'eve')"
        assert await make.scalar(conn, query, news, owner) is False
