"""A person with one of everything, in each state."""

from dataclasses import dataclass
from uuid import UUID

from mailqueue.db.fetch import Conn
from mailqueue.watch import inboxes, rules
from mailqueue.watch.inboxes import InboxAction
from tests import make
from tests.watch import watching

_NOTIFIED = """
    INSERT INTO mailqueue.notifications (project_id, user_id, email_account_id,
        notification_channel_id, sender_name, sender_address, subject, preview, email_received_at,
        status, last_error, finished_at)
    SELECT c.project_id, c.user_id, %s, c.id, %s, %s, %s, %s, now(), %s, %s, now()
    FROM mailqueue.notification_channels AS c WHERE c.id = %s RETURNING id
"""


@dataclass(frozen=True, slots=True)
class Filled:
    """Ids of what a person has."""

    person: UUID
    inbox: UUID
    channel: UUID
    rule: UUID
    notification: UUID
    """One that failed."""

    @property
    def variables(self) -> dict[str, str]:
        """Return the values of variables in paths."""
        return {
            "inbox_id": str(self.inbox),
            "channel_id": str(self.channel),
            "rule_id": str(self.rule),
            "notification_id": str(self.notification),
        }


async def filled(
    conn: Conn, person: UUID, *, project: str = "default", word: str = "invoice"
) -> Filled:
    """Return what a person is given: inboxes, channels, rules, notifications, all with `word`."""
    project_id = await make.project_named(conn, project)
    inbox, paused, lost = [
        await watching.inbox(
            conn, person, 993, address=f"{name}-{word}@example.com", project=project
        )
        for name in ("work", "home", "old")
    ]
    await inboxes.switch(conn, project_id, paused, InboxAction.PAUSE, by="tests")
    await conn.execute(
        "UPDATE mailqueue.mailboxes SET status = 'failed',"
        " last_error = 'the login was refused: wrong password' WHERE id = %s",
        (lost,),
    )
    await conn.execute(
        "UPDATE mailqueue.mailboxes SET last_scanned_at = now() WHERE id = %s", (inbox,)
    )
    channel = await watching.channel(conn, person, project=project)
    await watching.phone(conn, person, project=project)
    rule = await rules.add(conn, project_id, person, rule_type="subject", pattern=word, by="tests")
    await rules.add(
        conn,
        project_id,
        person,
        rule_type="sender",
        pattern="example.com",
        is_active=False,
        priority=5,
        by="tests",
    )
    ids = [
        await make.scalar(
            conn,
            _NOTIFIED,
            inbox,
            "Ben Example",
            f"ben-{word}@example.com",
            f"{word.title()} 81 of May, {status}",
            "Dear Ann, please find attached what we spoke of last week: it is due on the 14th",
            status,
            error,
            channel,
        )
        for status, error in (
            ("delivered", None),
            ("pending", None),
            ("held", "no answer within 10 seconds"),
            ("failed", "Slack answered 500"),
        )
    ]
    return Filled(person, inbox, channel, rule.id, ids[-1])
