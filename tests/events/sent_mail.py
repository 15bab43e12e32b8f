"""Sent mail, and the rows about it after events were recorded."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from mailqueue.db.fetch import Conn
from mailqueue.events.model import RecordResult, ReportedEvent, Type
from mailqueue.events.store import record_events
from tests import make

NOON = datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=90)
"""A time after every mail here was accepted."""

BOOKS = (
    "SELECT email_id, type, recipient_email, sender_account_id,"
    " CASE WHEN source IS NOT NULL THEN occurred_at END, source, code, detail,"
    " suppresses, data FROM mailqueue.email_events",
    "SELECT to_jsonb(b) - 'id' FROM mailqueue.bounce_list AS b",
    "SELECT to_jsonb(s) - 'id' - 'created_at' - 'expires_at' FROM mailqueue.suppressions AS s",
    "SELECT to_jsonb(u) - 'id' FROM mailqueue.unsubscribe_list AS u",
    "SELECT key FROM mailqueue.event_keys",
    "SELECT kind, email_id FROM mailqueue.notices",
    "SELECT id, status, reason FROM mailqueue.email_history",
    "SELECT id, status, unknowns FROM mailqueue.email_queue",
)


async def books(conn: Conn) -> list[list[str]]:
    """Return all rows that events change, in comparable form."""
    return [sorted(str(row) for row in await make.rows(conn, query)) for query in BOOKS]


async def left(conn: Conn, account: int | None = None, **columns: object) -> UUID:
    """Create a sent mail; return its id."""
    values: dict[str, object] = {
        "recipient_email": "ann@example.com",
        "category": "transactional",
        "recipients": 1,
        "unknowns": 0,
        "provider_message_id": None,
        "campaign_id": None,
        "created_at": NOON - timedelta(days=20),
        **columns,
    }
    mail = columns.get("id") or uuid4()
    owner = values.pop("project_id", None) or await make.project_named(conn)
    message_id = values.pop("message_id", f"<{mail.hex}@example.com>")  # type: ignore[attr-defined]
    await conn.execute(
        "INSERT INTO mailqueue.email_history (id, finished_at, project_id, lane_id, status,"
        " priority, attempts, max_attempts, created_at, assigned_to, recipients, unknowns,"
        " delivery, category, expires_at, recipient_email, content_id, content_on, message_id,"
        " provider_message_id, campaign_id)"
        " VALUES (%s, now(), %s, 1, 'sent', 2, 1, 3, %s, %s, %s, %s, 'resend', %s, now(), %s, 1,"
        " current_date, %s, %s, %s)",
        (
            mail,
            owner,
            values["created_at"],
            account,
            values["recipients"],
            values["unknowns"],
            values["category"],
            values["recipient_email"],
            message_id,
            values["provider_message_id"],
            values["campaign_id"],
        ),
    )
    assert isinstance(mail, UUID)
    return mail


async def also_to(conn: Conn, mail: UUID, *addresses: str) -> None:
    """Add recipients to a mail."""
    owner = await make.scalar(
        conn,
        "SELECT project_id FROM mailqueue.email_history WHERE id = %s"
        " UNION ALL SELECT project_id FROM mailqueue.email_queue WHERE id = %s",
        mail,
        mail,
    )
    for position, address in enumerate(addresses):
        await conn.execute(
            "INSERT INTO mailqueue.email_recipients (email_id, position, project_id, kind, address,"
            " status, settled_at) VALUES (%s, %s, %s, 'to', %s, 'sent', now())",
            (mail, position, owner, address),
        )


def event(type: Type, **known: Any) -> ReportedEvent:
    """Return an event that was not recorded yet."""
    values: dict[str, Any] = {
        "source": "ses",
        "event_id": uuid4().hex,
        "occurred_at": NOON,
        **known,
    }
    return ReportedEvent(type=type, **values)


async def told(conn: Conn, *events: ReportedEvent) -> list[RecordResult]:
    """Record events."""
    return await record_events(conn, events)


async def suppressed(conn: Conn) -> list[tuple[str, str, str]]:
    """Return the suppressions: address, category, reason."""
    found = await make.rows(
        conn, "SELECT address, category, reason FROM mailqueue.suppressions ORDER BY 1, 2"
    )
    return [(row[0], row[1], row[2]) for row in found]
