"""What workers read and write of inboxes and notifications."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from psycopg.types.json import Jsonb

from mailqueue.contract.watch import Notification, RuleType
from mailqueue.core.storable_text import storable, storable_json
from mailqueue.db import arrays, fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.statements.watch import watch as watch_sql
from mailqueue.db.statements.watch import whatsapp as whatsapp_sql
from mailqueue.ports.mailbox import Cursors
from mailqueue.watch.matching import ActiveRule
from mailqueue.watch.model import MailboxRow, NotificationRow, PostedNotification, SummaryLine


class _RuleRow(NamedTuple):
    id: UUID
    user_id: UUID
    rule_type: str
    pattern: str


class NotificationClaim(NamedTuple):
    """A claimed notification; after a lost lease one may be claimed a second time."""

    id: UUID
    claim_no: int


class _BegunNotification(NamedTuple):
    id: UUID
    claim_no: int
    state: str


async def read_mailboxes(conn: Conn, ids: Sequence[UUID]) -> list[MailboxRow]:
    """Return claimed inboxes."""
    values = {"ids": arrays.uuids(ids)}
    return await fetch.many(conn, watch_sql.READ_SCANNED_MAILBOXES, values, MailboxRow)


async def read_rules(conn: Conn, users: Sequence[UUID]) -> dict[UUID, list[ActiveRule]]:
    """Return the active rules of persons in the order of evaluation."""
    found: dict[UUID, list[ActiveRule]] = {}
    values = {"users": arrays.uuids(users)}
    for row in await fetch.many(conn, watch_sql.READ_ACTIVE_RULES, values, _RuleRow):
        rule = ActiveRule(row.id, RuleType(row.rule_type), row.pattern)
        found.setdefault(row.user_id, []).append(rule)
    return found


async def record_scan(
    conn: Conn,
    mailbox_id: UUID,
    claim_no: int,
    *,
    cursors: Cursors,
    mails: Sequence[Mapping[str, Any]],
    caught_up: datetime | None,
) -> None:
    """Write how far an inbox was scanned, and notify of its new mail.

    `caught_up` is when a scan began that read all that was there; None: the next one goes on.
    """
    places = {name: [one.validity, one.next_uid] for name, one in cursors.items()}
    values = {
        "id": mailbox_id,
        "claim_no": claim_no,
        "cursor": Jsonb(places),
        "mails": Jsonb(storable_json(list(mails))),
        "caught_up": caught_up,
    }
    await fetch.value(conn, watch_sql.RECORD_SCAN, values, int)


async def note_push(conn: Conn, mailbox_id: UUID, claim_no: int, *, at: datetime) -> None:
    """Write when the server of an inbox was asked to push."""
    values = {"id": mailbox_id, "claim_no": claim_no, "asked_at": at}
    await fetch.run(conn, watch_sql.NOTE_INBOX_PUSH, values)


async def notify_of_lost(conn: Conn, mailbox_id: UUID, claim_no: int, *, reason: str) -> None:
    """Add the notification to its user that an inbox is no longer scanned, and why."""
    values = {"id": mailbox_id, "claim_no": claim_no, "reason": storable(reason)}
    await fetch.run(conn, watch_sql.NOTIFY_OF_LOST_INBOX, values)


async def read_notifications(conn: Conn, ids: Sequence[UUID]) -> list[NotificationRow]:
    """Return claimed notifications and their channels."""
    values = {"ids": arrays.uuids(ids)}
    return await fetch.many(conn, watch_sql.READ_NOTIFICATIONS, values, NotificationRow)


async def read_summarized(
    conn: Conn, ids: Sequence[UUID], *, limit: int
) -> dict[UUID, list[SummaryLine]]:
    """Return the first mails of each summary."""
    found: dict[UUID, list[SummaryLine]] = {}
    values = {"ids": arrays.uuids(ids), "limit": limit}
    for line in await fetch.many(conn, watch_sql.READ_SUMMARIZED, values, SummaryLine):
        found.setdefault(line.summary_id, []).append(line)
    return found


async def begin(conn: Conn, claims: Sequence[NotificationClaim]) -> dict[NotificationClaim, str]:
    """Mark notifications before they are posted; return the state of each.

    `claims` are in the order of ids. See `begin_notification` in SQL.
    """
    values = {
        "ids": arrays.uuids([one.id for one in claims]),
        "claims": arrays.integers([one.claim_no for one in claims]),
    }
    found = await fetch.many(conn, watch_sql.BEGIN_NOTIFICATIONS, values, _BegunNotification)
    return {NotificationClaim(one.id, one.claim_no): one.state for one in found}


async def lock_channels(conn: Conn, channels: Collection[UUID]) -> None:
    """Lock channels in one order, before rows of their notifications."""
    await fetch.run(conn, watch_sql.LOCK_CHANNELS, {"ids": arrays.uuids(sorted(channels))})


async def note_answers(conn: Conn, done: Sequence[PostedNotification]) -> None:
    """Write what answers mean for channels and providers."""
    values = {
        "channels": arrays.uuids([one.channel_id for one in done]),
        "revisions": arrays.integers([one.revision for one in done]),
        "faults": arrays.texts([one.fault for one in done]),
        "waits": arrays.intervals([one.wait for one in done]),
        "failed": arrays.booleans([one.is_failed for one in done]),
    }
    await fetch.run(conn, watch_sql.NOTE_CHANNEL_ANSWERS, values)


async def opt_out(conn: Conn, channel_id: UUID, *, reason: str) -> bool:
    """End a channel whose person wants no messages; return whether it was connected."""
    values = {"id": channel_id, "word": reason}
    return await fetch.value(conn, whatsapp_sql.OPT_OUT_CHANNEL, values, bool)


async def close_window(conn: Conn, channel_id: UUID) -> None:
    """Send templates to a person until the next reply."""
    await fetch.run(conn, whatsapp_sql.CLOSE_WHATSAPP_WINDOW, {"id": channel_id})


async def tell_of_errors(conn: Conn, *, pages: str | None) -> int:
    """Mail persons whose channels or inboxes have ended in error; return the number of mails.

    `pages` is the address below which the pages of projects stand; None: there are none.
    """
    return await fetch.value(conn, watch_sql.TELL_OF_ERRORS, {"pages": pages}, int)


async def list_notifications(
    conn: Conn,
    project_id: UUID,
    *,
    notification_id: UUID | None = None,
    user_id: UUID | None = None,
    status: str | None = None,
    before: UUID | None = None,
    limit: int = 1,
) -> list[Notification]:
    """Return notifications, newest first, or the one with the id."""
    values = {
        "project_id": project_id,
        "id": notification_id,
        "user_id": user_id,
        "status": status,
        "before": before,
        "limit": limit,
    }
    return await fetch.many(conn, watch_sql.LIST_NOTIFICATIONS, values, Notification)


async def retry(conn: Conn, project_id: UUID, ids: Sequence[UUID], *, by: str) -> int:
    """Deliver notifications again; return how many."""
    values = {"project_id": project_id, "ids": arrays.uuids(ids), "by": by}
    return await fetch.value(conn, watch_sql.RETRY_NOTIFICATIONS, values, int)
