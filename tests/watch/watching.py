"""Inbox users, inboxes and channels for tests, and workers that scan and deliver."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from mailqueue.adapters.channels.slack.posting import SlackChannel
from mailqueue.adapters.channels.twilio.posting import WhatsAppChannel
from mailqueue.adapters.http.poster import HttpPoster
from mailqueue.adapters.mailboxes.imap import ImapReader
from mailqueue.core.queues.registry import queue_named
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.ports.mailbox import MailboxReader
from mailqueue.queue.in_progress import InProgress
from mailqueue.queue.process import Kind, run_queues
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.watch import channels, inboxes, users, whatsapp
from mailqueue.watch.delivering import NotificationHandler, NotificationTools
from mailqueue.watch.inboxes import NewInbox
from mailqueue.watch.scanning import ScanHandler, ScanTools
from mailqueue.watch.whatsapp import Consent, NewPhone
from tests import make
from tests.webhooks.delivering import LOOPBACK, master, until

TOKEN = "xoxb-0000000000-example"
ACCOUNT = "AC00000000000000000000000000000001"
AUTH_TOKEN = "00000000000000000000000000example"
TEMPLATE = "HX00000000000000000000000000000001"
SENDER = "+15550000001"
PHONE = "+15550000002"
PUBLIC_URL = "https://mail.example.com"
SCANNED = "SELECT min(last_scanned_at) FROM mailqueue.mailboxes WHERE id = %s"


async def user(conn: Conn, email: str = "ann@example.com", *, project: str = "default") -> UUID:
    """Add an inbox user; return the id."""
    project_id = await make.project_named(conn, project)
    return (await users.add(conn, project_id, email, by="tests")).id


async def inbox(
    conn: Conn,
    user_id: UUID,
    port: int,
    *,
    address: str = "ann@example.com",
    password: str = "secret",
    folders: tuple[str, ...] = ("INBOX",),
    webmail_url: str | None = None,
    project: str = "default",
) -> UUID:
    """Watch an inbox on loopback; return its id."""
    new = NewInbox(
        user_id,
        address,
        "127.0.0.1",
        Secret(password),
        port=port,
        tls="none",
        folders=folders,
        webmail_url=webmail_url,
        scan_seconds=30,
    )
    made = await inboxes.add(
        conn,
        await make.project_named(conn, project),
        new,
        allowed=LOOPBACK.allowed_networks,
        master=master(),
        by="tests",
    )
    return made.id


async def channel(
    conn: Conn,
    user_id: UUID,
    *,
    slack: str = "C0123456789",
    workspace: str | None = None,
    signing_secret: str | None = None,
    project: str = "default",
) -> UUID:
    """Connect a Slack channel; return its id."""
    made = await channels.add(
        conn,
        await make.project_named(conn, project),
        user_id,
        bot_token=Secret(TOKEN),
        slack_channel_id=slack,
        workspace=workspace,
        signing_secret=None if signing_secret is None else Secret(signing_secret),
        master=master(),
        by="tests",
    )
    return made.id


async def phone(
    conn: Conn,
    user_id: UUID,
    *,
    number: str = PHONE,
    given_at: datetime | None = None,
    project: str = "default",
) -> UUID:
    """Connect the phone of a person who consented; return the id of the channel."""
    consent = Consent("https://example.com/settings", "Notify me by WhatsApp", given_at)
    token = Secret(AUTH_TOKEN)
    new = NewPhone(user_id, number, ACCOUNT, token, SENDER, TEMPLATE, consent)
    project_id = await make.project_named(conn, project)
    return (await whatsapp.add(conn, project_id, new, master=master(), by="tests")).id


async def person(
    conn: Conn, number: int, port: int, *, folder: str = "INBOX"
) -> tuple[UUID, UUID, UUID]:
    """Add a user with an inbox whose folder was scanned before its first mail, and with a channel;
    return their ids in this order.
    """
    owner = await user(conn, f"person{number}@example.com")
    channel_id = await channel(conn, owner)
    inbox_id = await inbox(conn, owner, port, folders=(folder,))
    cursor = "jsonb_build_object(folders[1], '[1, 1]'::jsonb)"
    await conn.execute(f"UPDATE mailqueue.mailboxes SET cursor = {cursor} WHERE id = '{inbox_id}'")
    return owner, inbox_id, channel_id


async def queued(conn: Conn, owner: UUID, inbox_id: UUID, channel_id: UUID, number: int) -> UUID:
    """Queue a notification of mail for a channel; return its id."""
    found: UUID = await make.scalar(
        conn,
        "INSERT INTO mailqueue.notifications (project_id, user_id, email_account_id,"
        " notification_channel_id, sender_name, sender_address, subject, preview, message_id,"
        " email_received_at) SELECT project_id, %s, %s, id, 'Bob', 'bob@example.com',"
        " 'Mail ' || %s::text, 'How are you?', '<1@example.com>', now()"
        " FROM mailqueue.notification_channels WHERE id = %s RETURNING id",
        owner,
        inbox_id,
        number,
        channel_id,
    )
    return found


async def record(conn: Conn, inbox_id: UUID, key: str, subject: str) -> int:
    """Record a scan that found one message; return how many were not known."""
    await conn.execute(
        "UPDATE mailqueue.mailboxes SET status = 'assigned', claim_no = 1 WHERE id = %s",
        (inbox_id,),
    )
    found: int = await make.scalar(
        conn,
        "SELECT mailqueue.record_scan(%s, 1, '{}', jsonb_build_array(jsonb_build_object("
        "'key', %s::text, 'subject', %s::text, 'sender_name', '', 'preview', '',"
        " 'sender_address', 'ann@example.com', 'received_at', now())))",
        inbox_id,
        key,
        subject,
    )
    return found


@asynccontextmanager
async def scanning(
    database: DatabaseSettings, readers: Mapping[str, MailboxReader] | None = None
) -> AsyncIterator[None]:
    """Run a worker of queue `inboxes` during the block; without readers it reads by IMAP."""
    handler = ScanHandler(ScanTools(readers or {"imap": ImapReader(LOOPBACK)}, master))
    async with _running(database, "inboxes", lambda: handler):
        yield


@asynccontextmanager
async def delivering(
    database: DatabaseSettings, port: int, *, has_signing_secret: bool = False
) -> AsyncIterator[None]:
    """Run a worker of queue `notifications` during the block, with Slack at a port."""
    poster = HttpPoster(LOOPBACK, posts_once=True)
    slack = SlackChannel(poster, api_url=f"http://127.0.0.1:{port}/api")
    tools = NotificationTools(
        {"slack": slack}, master, PUBLIC_URL, has_signing_secret=has_signing_secret
    )
    handler = NotificationHandler(database, tools)
    async with _running(database, "notifications", lambda: handler):
        yield


@asynccontextmanager
async def texting(
    database: DatabaseSettings, port: int, *, public_url: str | None = PUBLIC_URL
) -> AsyncIterator[None]:
    """Run a worker of queue `notifications` during the block, with Twilio at a port."""
    poster = HttpPoster(LOOPBACK, posts_once=True)
    channel = WhatsAppChannel(poster, api_url=f"http://127.0.0.1:{port}")
    tools = NotificationTools({"whatsapp": channel}, master, public_url)
    handler = NotificationHandler(database, tools)
    async with _running(database, "notifications", lambda: handler):
        yield


@asynccontextmanager
async def _running(
    database: DatabaseSettings, name: str, build: Callable[[], Any]
) -> AsyncIterator[None]:
    stop = asyncio.Event()
    running = asyncio.create_task(
        run_queues(
            database,
            [Kind(queue_named(name), build)],
            stop,
            launch_id=uuid4(),
            in_progress=InProgress(),
        )
    )
    try:
        yield
        if running.done():
            running.result()
    finally:
        stop.set()
        await running


async def scanned(conn: Conn, inbox_id: UUID) -> None:
    """Wait for the next scan of an inbox, which begins at once."""
    before = await make.scalar(conn, SCANNED, inbox_id)
    query = "UPDATE mailqueue.mailboxes SET run_at = now() WHERE id = %s AND status = 'pending'"
    await conn.execute(query, (inbox_id,))

    async def is_scanned() -> bool:
        return bool(await make.scalar(conn, SCANNED, inbox_id) != before)

    await until(is_scanned, what="a scan")


async def wait(condition: Callable[[], Awaitable[bool]], what: str) -> None:
    """Wait for a condition."""
    await until(condition, what=what)


async def log(conn: Conn) -> list[tuple[str, str]]:
    """Return subject and state of all notifications, oldest first."""
    query = "SELECT subject, delivery_status FROM mailqueue.notification_log ORDER BY id"
    return [(row[0], row[1]) for row in await make.rows(conn, query)]
