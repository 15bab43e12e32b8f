"""Views of inboxes and channels say where a scan at Gmail begins, and which key seals what they
need.
"""

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.vault.rotation import rotate
from tests import make
from tests.watch import watching
from tests.watch.gmail.watched import watched
from tests.watch.watching import PHONE
from tests.webhooks.delivering import master

pytestmark = pytest.mark.anyio
KEYS = "SELECT provider, key_version FROM mailqueue.email_accounts ORDER BY provider"


async def test_the_number_of_the_key_that_seals_a_token_rises_with_each_rotation(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        await make.project(conn, "other")
        other = await watching.user(conn, "eve@example.com", project="other")
        await watching.inbox(conn, other, 993, project="other")
        inbox_id = await watched(conn)
        owner = await watching.user(conn, "bob@example.com")
        await watching.inbox(conn, owner, 993, address="bob@example.com")
        of_project = KEYS.replace("ORDER", "WHERE project_id = %s ORDER")
        project_id = await make.project_named(conn)
        assert await make.rows(conn, of_project, project_id) == [("gmail", 1), ("imap", 1)]
        for version in (2, 3):
            await rotate(conn, master(), project="default", is_forced=True, by="tests")
            found = await make.rows(conn, of_project, project_id)
            assert found == [("gmail", version), ("imap", version)]

        of_other = "SELECT key_version FROM mailqueue.email_accounts WHERE user_id = %s"
        assert await make.scalar(conn, of_other, other) == 1, "each project has keys of its own"
        await conn.execute("UPDATE mailqueue.mailboxes SET sealed_password = ''")
        query = "SELECT key_version FROM mailqueue.email_accounts WHERE id = %s"
        assert await make.scalar(conn, query, inbox_id) is None


async def test_the_history_of_gmail_is_where_the_next_scan_begins(conn: Conn) -> None:
    inbox_id = await watched(conn, labels=("INBOX", "Label_12"))
    query = "SELECT history_id FROM mailqueue.email_accounts WHERE id = %s"
    assert await make.scalar(conn, query, inbox_id) is None, "it was not scanned yet"
    await conn.execute(
        """UPDATE mailqueue.mailboxes SET cursor = '{"INBOX": [1, 1007], "Label_12": [1, 1003]}'"""
    )
    assert await make.scalar(conn, query, inbox_id) == "1003"
    await conn.execute("UPDATE mailqueue.mailboxes SET provider = 'imap'")
    assert await make.scalar(conn, query, inbox_id) is None


async def test_a_channel_has_the_number_of_its_key_and_the_consent_of_its_person(
    database: DatabaseSettings,
) -> None:
    query = (
        "SELECT channel_type, status, key_version, consent_given, consent_given_at IS NOT NULL,"
        " whatsapp_phone_number FROM mailqueue.delivery_channels ORDER BY channel_type"
    )
    async with connect(database) as conn:
        owner = await watching.user(conn, "bob@example.com")
        slack = await watching.channel(conn, owner)
        await watching.phone(conn, owner)
        phone = ("whatsapp", "active", 1, True, True, PHONE)
        assert await make.rows(conn, query) == [("slack", "active", 1, False, False, None), phone]
        await rotate(conn, master(), project="default", is_forced=True, by="tests")
        await conn.execute(
            "SELECT mailqueue.disconnect_channel(project_id, %s, 'tests')"
            " FROM mailqueue.notification_channels WHERE id = %s",
            (slack, slack),
        )
        assert await make.rows(conn, query) == [
            ("slack", "disconnected", None, False, False, None),
            ("whatsapp", "active", 2, True, True, PHONE),
        ]
