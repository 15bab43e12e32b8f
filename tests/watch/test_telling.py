"""A person is mailed once a day when a channel or an inbox is in error, with a link to mend it."""

from typing import Any
from uuid import UUID

import pytest

from mailqueue.core.outcome import Done
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.watch import channels
from mailqueue.watch.delivering import NotificationHandler, NotificationTools
from mailqueue.watch.model import PostedNotification
from mailqueue.watch.store import work as store
from tests import make
from tests.watch import watching
from tests.webhooks.delivering import master

pytestmark = pytest.mark.anyio

PAGES = "https://mail.example.com/inbox/"


async def fault(conn: Conn, channel_id: UUID, reason: str = "token_revoked") -> None:
    """Have Slack answer a post with a fault of the channel."""
    revision = await make.scalar(
        conn, "SELECT revision FROM mailqueue.notification_channels WHERE id = %s", channel_id
    )
    answer = PostedNotification(Done(), channel_id, revision, fault=reason)
    await store.note_answers(conn, [answer])


_FAILED = {
    "notification_channels": b"UPDATE mailqueue.notification_channels SET status = 'error'",
    "mailboxes": b"UPDATE mailqueue.mailboxes SET status = 'failed', last_error = 'no'",
}
_MENDED = {
    "notification_channels": b"UPDATE mailqueue.notification_channels SET status = 'active'",
    "mailboxes": b"UPDATE mailqueue.mailboxes SET status = 'pending'",
}


async def mend(conn: Conn, channel_id: UUID) -> None:
    await conn.execute(
        "UPDATE mailqueue.notification_channels SET status = 'active' WHERE id = %s",
        (channel_id,),
    )


async def log_in(conn: Conn, owner: UUID) -> None:
    """Insert the password of a person."""
    await conn.execute(
        "INSERT INTO mailqueue.inbox_logins (user_id, project_id, password_hash)"
        " SELECT id, project_id, '-' FROM mailqueue.inbox_users WHERE id = %s",
        (owner,),
    )


async def mails(conn: Conn) -> list[tuple[Any, ...]]:
    """Return recipient, subject, text and HTML of queued mail."""
    return await make.rows(
        conn,
        "SELECT q.recipient_email, c.subject, c.text_body, c.html_body FROM mailqueue.email_queue"
        " AS q JOIN mailqueue.email_contents AS c ON c.id = q.content_id ORDER BY q.id",
    )


async def test_a_person_is_told_once_of_a_channel_and_where_to_mend_it(conn: Conn) -> None:
    owner, _, channel_id = await watching.person(conn, 1, 1)
    await log_in(conn, owner)
    await watching.person(conn, 2, 1)
    for reason in ("token_revoked", "channel_not_found"):
        await fault(conn, channel_id, reason)
        for _ in range(2):
            await store.tell_of_errors(conn, pages=PAGES)

    ((to, subject, text, html),) = await mails(conn)
    assert to == "person1@example.com"
    assert subject == "Slack no longer gets your notifications of new mail"
    assert "https://mail.example.com/inbox/default/channels" in text
    assert '<a href="https://mail.example.com/inbox/default/channels">' in html
    tags = "SELECT tags FROM mailqueue.email_queue"
    assert await make.scalar(conn, tags) == ["inbox-error"]


async def test_a_person_is_told_at_most_once_a_day(conn: Conn) -> None:
    _, _, channel_id = await watching.person(conn, 1, 1)
    told = []
    for hours in (0, 1, 22, 2):
        for column in ("tell_at", "told_at"):
            await conn.execute(
                f"UPDATE mailqueue.notification_channels SET {column} = {column} - "
                f"make_interval(hours => {hours})".encode()
            )
        await mend(conn, channel_id)
        await fault(conn, channel_id)
        told.append(await store.tell_of_errors(conn, pages=PAGES))

    assert told == [1, 0, 0, 1]


async def test_who_mended_it_before_is_not_told(conn: Conn) -> None:
    _, _, channel_id = await watching.person(conn, 1, 1)
    await fault(conn, channel_id)
    await mend(conn, channel_id)
    assert await store.tell_of_errors(conn, pages=PAGES) == 0

    await fault(conn, channel_id)
    project_id = await make.project_named(conn)
    await channels.disconnect(conn, project_id, channel_id, by="tests")
    assert await store.tell_of_errors(conn, pages=PAGES) == 0


async def test_a_person_without_login_is_sent_to_the_project(conn: Conn) -> None:
    _, _, channel_id = await watching.person(conn, 1, 1)
    await conn.execute("UPDATE mailqueue.projects SET display_name = 'Ann & <Bob> {{ x }}'")
    await fault(conn, channel_id)
    await store.tell_of_errors(conn, pages=PAGES)

    ((_, _, text, html),) = await mails(conn)
    assert "https://" not in text + html
    assert "Please ask Ann & <Bob> {{ x }}." in text
    assert "Please ask Ann &amp; &lt;Bob&gt; {{ x }}." in html


async def test_a_person_is_told_of_an_inbox_without_what_its_server_said(conn: Conn) -> None:
    owner, inbox_id, _ = await watching.person(conn, 1, 1)
    await log_in(conn, owner)
    await conn.execute(
        "UPDATE mailqueue.mailboxes SET status = 'failed', last_error = 'password secret is wrong'"
        " WHERE id = %s",
        (inbox_id,),
    )
    assert await store.tell_of_errors(conn, pages=PAGES) == 1

    ((to, subject, text, html),) = await mails(conn)
    assert to == "person1@example.com"
    assert subject == "ann@example.com is no longer watched"
    assert text.endswith("https://mail.example.com/inbox/default\n")
    assert "secret" not in text + html


async def test_a_person_who_opted_out_is_told_how_to_return(conn: Conn) -> None:
    owner = await watching.user(conn)
    channel_id = await watching.phone(conn, owner)
    await store.opt_out(conn, channel_id, reason="STOP")
    assert await store.tell_of_errors(conn, pages=PAGES) == 1

    ((_, _, text, _),) = await mails(conn)
    assert "Answer START on your phone" in text
    assert watching.PHONE not in text


async def test_a_mail_that_is_refused_is_tried_again_after_minutes_and_others_are_told(
    conn: Conn,
) -> None:
    _, _, channel_id = await watching.person(conn, 1, 1)
    other = await make.project(conn, "other")
    bob = await watching.user(conn, "bob@example.com", project="other")
    of_bob = await watching.channel(conn, bob, project="other")
    await conn.execute(
        "UPDATE mailqueue.projects SET max_queued_emails = 0 WHERE id <> %s", (other,)
    )
    for one in (channel_id, of_bob):
        await fault(conn, one)
    assert await store.tell_of_errors(conn, pages=None) == 1
    assert await store.tell_of_errors(conn, pages=None) == 0
    assert [one[0] for one in await mails(conn)] == ["bob@example.com"]
    detail = await make.scalar(
        conn,
        "SELECT detail ->> 'reason' FROM mailqueue.audit_events"
        " WHERE action = 'inbox_user.not_told'",
    )
    assert "is full" in detail

    await conn.execute("UPDATE mailqueue.projects SET max_queued_emails = NULL")
    await conn.execute(
        "UPDATE mailqueue.notification_channels SET tell_at = tell_at - interval '5 min'"
    )
    assert await store.tell_of_errors(conn, pages=None) == 1


@pytest.mark.parametrize("table", ["notification_channels", "mailboxes"])
async def test_the_wait_for_a_mail_that_is_refused_doubles_up_to_a_day(
    conn: Conn, table: str
) -> None:
    await watching.person(conn, 1, 1)
    await conn.execute("UPDATE mailqueue.projects SET max_queued_emails = 0")
    await conn.execute(_FAILED[table])
    minutes = []
    for _ in range(10):
        await conn.execute(f"UPDATE mailqueue.{table} SET tell_at = now()".encode())
        assert await store.tell_of_errors(conn, pages=None) == 0
        wait = "round(extract(epoch FROM tell_at - clock_timestamp()) / 60)::integer"
        minutes.append(await make.scalar(conn, f"SELECT {wait} FROM mailqueue.{table}"))

    assert minutes == [5, 10, 20, 40, 80, 160, 320, 640, 1280, 1440]
    await conn.execute(_MENDED[table])
    assert await make.scalar(conn, f"SELECT tell_failures FROM mailqueue.{table}") == 0


async def test_the_persons_of_a_deleted_project_are_not_told(conn: Conn) -> None:
    _, _, channel_id = await watching.person(conn, 1, 1)
    await conn.execute("UPDATE mailqueue.projects SET status = 'suspended', deleted_at = now()")
    await fault(conn, channel_id)
    assert await store.tell_of_errors(conn, pages=PAGES) == 0
    assert await mails(conn) == []


async def test_workers_of_notifications_tell_with_the_link_of_their_public_url(
    database: DatabaseSettings,
) -> None:
    tools = NotificationTools({}, master, "https://mail.example.com/")
    handler = NotificationHandler(database, tools)
    async with connect(database) as conn:
        owner, _, channel_id = await watching.person(conn, 1, 1)
        await log_in(conn, owner)
        await fault(conn, channel_id)
        await handler.rest(lambda operation: operation(conn))
        await handler.close()

        ((_, _, text, _),) = await mails(conn)
    assert "\nhttps://mail.example.com/inbox/default/channels\n" in text
