"""SQL for Mailgun's API."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from mailqueue.contract.emails import Event
from mailqueue.db.fetch import Conn, many, maybe
from mailqueue.db.statements.emails import events as events_sql
from mailqueue.db.statements.emails import mailgun as mailgun_sql


class SendingRights(NamedTuple):
    """The From patterns a project may use (None: any), and its trap account."""

    allowed_from: list[str] | None
    trap: str | None


async def sending_rights_of(conn: Conn, project_id: UUID) -> SendingRights | None:
    """Return the From patterns and the trap account of a project."""
    return await maybe(
        conn, mailgun_sql.FIND_ALLOWED_FROM, {"project_id": project_id}, SendingRights
    )


@dataclass(frozen=True, slots=True)
class EventOfEmail(Event):
    """An event, and the id of its mail."""

    email_id: UUID


@dataclass(frozen=True, slots=True)
class EmailOfEvents:
    """What events say about their mail."""

    id: UUID
    created_at: datetime
    from_email: str | None
    from_name: str | None
    subject: str | None
    message_id: str | None
    category: str
    tags: list[str] | None
    custom_data: Any
    recipient_email: str
    recipient_name: str | None
    is_bounced: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MailgunEventFilter:
    """Events of some mails; `at` and `at_id` are of the last event of the page before."""

    ids: list[UUID]
    types: list[str]
    addresses: list[str] | None
    since: datetime | None
    until: datetime | None
    is_ascending: bool
    at: datetime | None
    at_id: UUID | None
    limit: int


async def list_events(
    conn: Conn, project_id: UUID, chosen: MailgunEventFilter
) -> list[EventOfEmail]:
    """Return events in the order of their time."""
    asked = {each.name: getattr(chosen, each.name) for each in fields(chosen)}
    return await many(
        conn, events_sql.LIST_EVENTS_OF_EMAILS, asked | {"project_id": project_id}, EventOfEmail
    )


async def emails_of(conn: Conn, project_id: UUID, ids: Sequence[UUID]) -> list[EmailOfEvents]:
    """Return what events say about their mails."""
    asked = {"ids": list(ids), "project_id": project_id}
    return await many(conn, events_sql.LIST_EMAILS_OF_EVENTS, asked, EmailOfEvents)
