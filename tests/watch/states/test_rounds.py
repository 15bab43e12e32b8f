"""A flood, a dead server and a revoked token take no turns from others, counted in claims."""

import asyncio
from collections import Counter
from datetime import UTC, datetime
from uuid import UUID

import pytest

from mailqueue.adapters.channels.slack.posting import SlackChannel
from mailqueue.adapters.http.poster import HttpPoster
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.ports.mailbox import (
    Cursors,
    FolderCursor,
    MailboxAccess,
    MailboxScan,
    NewMail,
    ScanFault,
)
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.watch.delivering import NotificationHandler, NotificationTools
from mailqueue.watch.scanning import ScanHandler, ScanTools
from tests import make
from tests.adapters.sending.fake import SILENT, FakeReply, Request, says
from tests.watch import watching
from tests.watch.fake_imap import mail
from tests.watch.fake_slack import FakeSlack, fake_slack
from tests.watch.states.turning import turner
from tests.watch.watching import PUBLIC_URL
from tests.webhooks.delivering import LOOPBACK, master

pytestmark = pytest.mark.anyio
CALM, TROUBLED = 12, 20
BATCH, SLOTS = 24, 8
"""Rows of a claim and slots of the worker: less than the troubled inboxes would take."""
ROUNDS = 4
DUE = "UPDATE mailqueue.mailboxes SET run_at = now() - interval '1 s' WHERE status = 'pending'"


class Mailboxes:
    """Answers scans by the name of the inbox, and counts those of calm inboxes."""

    def __init__(self) -> None:
        self.calm = Counter[str]()
        self.over = asyncio.Event()

    async def scan(
        self,
        access: MailboxAccess,
        cursors: Cursors,
        *,
        since: datetime | None,  # noqa: ARG002
    ) -> MailboxScan | ScanFault:
        name = access.username.partition("@")[0]
        place = cursors.get("INBOX", FolderCursor(1, 1)).next_uid
        found = {"INBOX": FolderCursor(1, place + 1)}
        if name.startswith("dead"):
            await self.over.wait()
        if name.startswith("revoked"):
            return ScanFault("the server refused the login", is_refusal=True)
        if name.startswith("calm"):
            self.calm[name] += 1
        message = mail(subject=f"{name} {place}", message_id=f"<{name}.{place}@example.com>")
        new = NewMail("INBOX", 1, place, datetime.now(UTC), message)
        return MailboxScan(found, [new], has_more=name.startswith("flood"))

    def close(self) -> None:
        self.over.set()


async def inboxes_of(conn: Conn, name: str, count: int) -> list[UUID]:
    """Add a person with a channel and inboxes that were due before those of others."""
    owner = await watching.user(conn, f"{name}@example.com")
    await watching.channel(conn, owner, slack="C0")
    return [
        await watching.inbox(conn, owner, 993, address=f"{name}{number}@example.com")
        for number in range(count)
    ]


async def rounds_of(database: DatabaseSettings, conn: Conn, *, is_troubled: bool) -> list[int]:
    """Return how many calm inboxes each claim scanned."""
    dead: list[UUID] = []
    if is_troubled:
        for name in ("flood", "dead", "revoked"):
            added = await inboxes_of(conn, name, TROUBLED)
            dead += added if name == "dead" else []
    for number in range(CALM):
        await inboxes_of(conn, f"calm{number}", 1)
    box = Mailboxes()
    handler = ScanHandler(ScanTools({"imap": box}, master))
    counts: list[int] = []
    async with turner(database, "inboxes", handler, batch=BATCH, concurrency=SLOTS) as worker:
        for _ in range(ROUNDS):
            await conn.execute(DUE.encode())
            before = box.calm.total()
            await worker.turn(but=dead)
            counts.append(box.calm.total() - before)
        box.over.set()
    assert set(box.calm.values()) == {ROUNDS}
    return counts


@pytest.mark.parametrize("is_troubled", [False, True])
async def test_inboxes_of_others_are_scanned_in_every_claim(
    database: DatabaseSettings, is_troubled: bool
) -> None:
    async with connect(database) as conn:
        counts = await rounds_of(database, conn, is_troubled=is_troubled)

        assert counts == [CALM] * ROUNDS
        query = "SELECT count(*) FROM mailqueue.notifications WHERE subject LIKE 'calm%%'"
        assert await make.scalar(conn, query) == CALM * ROUNDS


def answering(slack: FakeSlack, request: Request) -> FakeReply:
    """Answer by the channel: one is silent, the token of another is revoked."""
    channel = request.json["channel"]
    if channel == "CDEAD":
        return SILENT
    if channel == "CREVOKED":
        return says(200, {"ok": False, "error": "token_revoked"})
    slack.messages.append(request.json)
    return says(200, {"ok": True, "channel": channel, "ts": "1767323045.000100"})


@pytest.mark.parametrize("is_troubled", [False, True])
async def test_notifications_of_others_are_posted_in_every_claim(
    database: DatabaseSettings, is_troubled: bool
) -> None:
    async with fake_slack() as slack, connect(database) as conn:
        slack.script = [lambda request: answering(slack, request)] * 1000
        dead: list[UUID] = []
        names = ["flood", "dead", "revoked"] if is_troubled else []
        for name in [*names, *(f"calm{number}" for number in range(CALM))]:
            owner = await watching.user(conn, f"{name}@example.com")
            channel = await watching.channel(conn, owner, slack=f"C{name.upper()}")
            inbox = await watching.inbox(conn, owner, 993, address=f"{name}@example.com")
            count = ROUNDS if name.startswith("calm") else 5 * TROUBLED
            added = [
                await watching.queued(conn, owner, inbox, channel, place) for place in range(count)
            ]
            dead += added if name == "dead" else []
        poster = HttpPoster(LOOPBACK, posts_once=True)
        channels = {"slack": SlackChannel(poster, api_url=f"http://127.0.0.1:{slack.port}/api")}
        tools = NotificationTools(channels, master, PUBLIC_URL)
        handler = NotificationHandler(database, tools)
        counts: list[int] = []
        async with turner(
            database, "notifications", handler, batch=BATCH, concurrency=SLOTS
        ) as worker:
            for _ in range(ROUNDS):
                # A second has passed for all: each channel may have one more.
                await conn.execute("UPDATE mailqueue.notification_channels SET next_at = now()")
                passed = "UPDATE mailqueue.channel_providers SET next_at = now() - interval '1 s'"
                await conn.execute(passed)
                before = len(slack.messages)
                await worker.turn(but=dead)
                told = [one["channel"] for one in slack.messages[before:]]
                counts.append(sum(name.startswith("CCALM") for name in told))
                assert max(Counter(told).values()) == 1, "the flood has one turn as well"
            assert slack.server is not None
            slack.server.over.set()

        assert counts == [CALM] * ROUNDS
