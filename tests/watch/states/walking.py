"""Persons whose inboxes, channels and notifications a test leads from state to state."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID

from mailqueue.adapters.channels.slack.posting import SlackChannel
from mailqueue.adapters.channels.twilio.posting import WhatsAppChannel
from mailqueue.adapters.http.poster import HttpPoster
from mailqueue.adapters.mailboxes.imap import ImapReader
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.ports.channel import ChannelPoster
from mailqueue.ports.mailbox import ConsentedInbox
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.watch import gmail, inboxes, notifications
from mailqueue.watch.delivering import NotificationHandler, NotificationTools
from mailqueue.watch.inboxes import InboxAction
from mailqueue.watch.model import PendingConsent
from mailqueue.watch.scanning import ScanHandler, ScanTools
from tests import make
from tests.adapters.sending.fake import FakeReply
from tests.api.support.calling import Calling
from tests.watch import watching
from tests.watch.fake_imap import FakeFolder, FakeImap, fake_imap, mail
from tests.watch.fake_slack import FakeSlack, fake_slack
from tests.watch.fake_twilio import FakeTwilio, fake_twilio
from tests.watch.states.turning import Turner, turner
from tests.watch.texting import listening, reply, report, report_path, tell
from tests.watch.watching import PUBLIC_URL
from tests.webhooks.delivering import LOOPBACK, master


@dataclass
class Person:
    """Ids of what a person has; `one` is a notification or, if there is one, the summary."""

    owner: UUID
    inbox: UUID
    channel: UUID
    folder: str
    number: str
    one: UUID | None = None


@dataclass
class Walk:
    """Servers, and workers that claim when they are told to."""

    conn: Conn
    api: Calling
    imap: FakeImap
    slack: FakeSlack
    twilio: FakeTwilio
    scans: Turner
    posts: Turner
    project: UUID
    persons: list[Person] = field(default_factory=list)
    replies: int = 1000

    async def person(self, *, mails: int = 1, has_phone: bool = False) -> Person:
        """Add a person with a channel and an inbox to which mail comes, and scan it."""
        place = len(self.persons)
        folder, number = f"Folder{place}", f"+1555000{place:04}"
        self.imap.folders[folder] = FakeFolder()
        owner = await watching.user(self.conn, f"person{place}@example.com")
        if has_phone:
            channel = await watching.phone(self.conn, owner, number=number)
        else:
            channel = await watching.channel(self.conn, owner)
        inbox = await watching.inbox(self.conn, owner, self.imap.port, folders=(folder,))
        found = Person(owner, inbox, channel, folder, number)
        self.persons.append(found)
        await self.scan(found)
        if mails:
            await self.arrive(found, mails)
        return found

    async def arrive(self, person: Person, mails: int) -> None:
        """Let mail come to a person, and scan the inbox."""
        box = self.imap.folders[person.folder]
        for _ in range(mails):
            known = f"<{box.next_uid}.{person.folder}@example.com>"
            box.add(mail(subject=f"Mail {box.next_uid}", message_id=known))
        await self.scan(person)
        query = "SELECT id FROM mailqueue.notifications WHERE user_id = %s"
        newest = f"{query} ORDER BY kind = 'summary' DESC, id LIMIT 1"
        person.one = await make.scalar(self.conn, newest, person.owner)

    async def scan(self, person: Person) -> None:
        """Scan an inbox now."""
        query = "UPDATE mailqueue.mailboxes SET run_at = now() WHERE id = %s"
        await self.conn.execute(query, (person.inbox,))
        await self.scans.turn()

    async def refuse(self, person: Person) -> None:
        """Refuse four logins of an inbox."""
        self.imap.password = "another"
        for _ in range(4):
            await self.scan(person)
        self.imap.password = "secret"

    async def switch(self, person: Person, action: InboxAction) -> None:
        await inboxes.switch(self.conn, self.project, person.inbox, action, by="tests")

    async def reconnect(self, person: Person) -> None:
        await inboxes.reconnect(
            self.conn,
            self.project,
            person.inbox,
            password=Secret("secret"),
            master=master(),
            by="tests",
        )

    async def consent(self, owner: UUID) -> UUID:
        """Connect the inbox of a person at Gmail, again if it is connected."""
        address = "gmail@example.com"
        wanted = PendingConsent(self.project, owner, address, ("INBOX",), None, 30)
        consented = ConsentedInbox(address, Secret("refresh-0"))
        made = await gmail.connect(self.conn, wanted, consented, master=master(), by="tests")
        return made.id

    async def post(self, person: Person, *answers: FakeReply) -> None:
        """Post what is due of one person, to which the channel answers."""
        self.twilio.script, self.slack.script = [*answers], [*answers]
        await self.only(person)
        await self.conn.execute(
            "UPDATE mailqueue.notifications SET run_at = now()"
            " WHERE notification_channel_id = %s AND status = 'pending'",
            (person.channel,),
        )
        assert await self.posts.turn() > 0
        self.twilio.script, self.slack.script = [], []

    async def only(self, person: Person) -> None:
        """Let one channel be posted to now, and no other."""
        await self.conn.execute(
            "UPDATE mailqueue.notification_channels"
            " SET next_at = CASE WHEN id = %s THEN now() ELSE now() + interval '1 h' END",
            (person.channel,),
        )
        await self.conn.execute("UPDATE mailqueue.workspace_rates SET next_at = now()")

    async def retry(self, person: Person) -> None:
        assert person.one is not None
        done = await notifications.retry(self.conn, self.project, [person.one], by="tests")
        assert done.notifications == 1

    async def told(self, person: Person, status: str, code: str = "", number: int = 0) -> None:
        """Report as Twilio about a message, the last one unless a number is given."""
        assert person.one is not None
        path = await report_path(self.conn, person.one)
        fields = report(status, code, number or len(self.twilio.messages))
        assert await tell(self.api, path, fields) == 200

    async def says(self, person: Person, word: str) -> None:
        """Reply from the phone of a person."""
        self.replies += 1
        fields = reply(word, self.replies, From=f"whatsapp:{person.number}")
        assert await tell(self.api, f"/channels/whatsapp/{self.project}", fields) == 200

    async def by_queue(self, what: str, row: UUID | None) -> None:
        """Requeue or cancel a row as operators of queues do."""
        query = f"SELECT * FROM mailqueue.{what}_queue_rows(ARRAY[%s]::uuid[], 'tests')"
        await self.conn.execute(query.encode(), (row,))

    async def killed(self, person: Person, table: str) -> None:
        """Let workers die with the inbox or the notification of a person until it is given up."""
        worker, row = self.scans, person.inbox
        if table == "notifications":
            assert person.one is not None
            worker, row = self.posts, person.one
        due = f"UPDATE mailqueue.{table} SET run_at = now() WHERE id = %s"
        claim = (
            f"SELECT c.claim_no FROM mailqueue.claim_{table}(%s, 9, '1 min', %s, 4, '{{}}', '{{}}')"
            " AS c WHERE c.id = %s"
        )
        suspect = (
            f"SELECT mailqueue.suspect_{table}(ARRAY[%s]::uuid[], ARRAY[%s]::bigint[], %s,"
            " 'killed')"
        )
        for is_alone in (False, True, True, True):
            await self.only(person)
            await self.conn.execute(due.encode(), (row,))
            claimed = await make.scalar(self.conn, claim, worker.number, is_alone, row)
            await self.conn.execute(suspect.encode(), (row, claimed, is_alone))


@asynccontextmanager
async def walking(database: DatabaseSettings) -> AsyncIterator[Walk]:
    """Run the servers during the block."""
    poster = HttpPoster(LOOPBACK, posts_once=True)
    reading = ScanHandler(ScanTools({"imap": ImapReader(LOOPBACK)}, master))
    async with (
        fake_imap() as imap,
        fake_slack() as slack,
        fake_twilio() as twilio,
        listening(database) as api,
        connect(database) as conn,
    ):
        channels: dict[str, ChannelPoster] = {
            "slack": SlackChannel(poster, api_url=f"http://127.0.0.1:{slack.port}/api"),
            "whatsapp": WhatsAppChannel(poster, api_url=f"http://127.0.0.1:{twilio.port}"),
        }
        tools = NotificationTools(channels, master, PUBLIC_URL)
        posting = NotificationHandler(database, tools)
        async with (
            turner(database, "inboxes", reading) as scans,
            turner(database, "notifications", posting) as posts,
        ):
            project = await make.project_named(conn)
            yield Walk(conn, api, imap, slack, twilio, scans, posts, project)
