"""SQL of bounce mail, and of what reported a bounce, for compatible APIs."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from mailqueue.db.fetch import Conn, many, maybe, value
from mailqueue.db.statements.events import received as sql
from mailqueue.inbound.bounces.events import IGNORED
from mailqueue.inbound.bounces.submitted import message_of
from mailqueue.mail.reads.conversations import conversation_of
from mailqueue.ports.inbound import BadEvent, InboundRequest


@dataclass(frozen=True, slots=True)
class BounceMail:
    """Bounce mail as it came, in one of the states queued, scheduled, processed, blocked, failed.

    Without a body it is past its retention.
    """

    id: UUID
    received_at: datetime
    headers: dict[str, str]
    query: dict[str, str]
    body: bytes | None
    state: str
    error: str | None

    def request(self) -> InboundRequest:
        """Return the message with its envelope in the query; without bytes if it cannot be read."""
        return _message(self.headers, self.query, self.body)


@dataclass(frozen=True, slots=True)
class BounceSource:
    """What reported a bounce: a mail, or a conversation."""

    headers: dict[str, str] | None
    query: dict[str, str] | None
    body: bytes | None
    conversation: Any

    def text(self) -> str:
        """Return the mail, or the lines of the conversation."""
        if self.body is not None:
            message = _message(self.headers or {}, self.query or {}, self.body)
            return message.body.decode("utf-8", "replace")
        said = conversation_of(self.conversation)
        lines = [] if said is None else [f"{one.by}: {one.text}" for one in said.lines]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class BounceMailFilter:
    """Filters of bounce mail; all given ones match."""

    state: str | None = None
    since: datetime | None = None
    until: datetime | None = None  # inclusive

    def params(self, project_id: UUID) -> dict[str, Any]:
        """Return SQL parameters."""
        return {
            "project_id": project_id,
            "state": self.state,
            "since": self.since,
            "until": self.until,
            "rule": IGNORED,
        }


async def list_mail(
    conn: Conn, project_id: UUID, wanted: BounceMailFilter, *, limit: int, offset: int
) -> list[BounceMail]:
    """Return bounce mail, newest first."""
    asked = wanted.params(project_id) | {"id": None, "limit": limit, "offset": offset}
    return await many(conn, sql.LIST_BOUNCE_MAIL, asked, BounceMail)


async def list_mail_beside(
    conn: Conn, project_id: UUID, *, after: UUID | None, before: UUID | None, limit: int
) -> list[BounceMail]:
    """Return bounce mail older than `after`, newest first; with `before`, that which is newer,
    oldest first.
    """
    asked = BounceMailFilter().params(project_id)
    asked |= {"after": after, "before": before, "limit": limit}
    return await many(conn, sql.LIST_BOUNCE_MAIL_BESIDE, asked, BounceMail)


async def count_mail(conn: Conn, project_id: UUID, wanted: BounceMailFilter) -> int:
    """Return the number of bounce mails, at most 10,000."""
    return await value(conn, sql.COUNT_BOUNCE_MAIL, wanted.params(project_id), int)


async def find_mail(conn: Conn, project_id: UUID, mail_id: UUID) -> BounceMail | None:
    """Return one bounce mail of a project."""
    asked = BounceMailFilter().params(project_id) | {"id": mail_id, "limit": 1, "offset": 0}
    found = await many(conn, sql.LIST_BOUNCE_MAIL, asked, BounceMail)
    return found[0] if found else None


async def read_again(conn: Conn, project_id: UUID, mail_id: UUID, *, state: str, by: str) -> bool:
    """Have failed or blocked mail processed again; return False where it is in another state."""
    asked = {
        "project_id": project_id,
        "id": mail_id,
        "state": state,
        "rule": IGNORED,
        "by": by,
    }
    return await value(conn, sql.READ_BOUNCE_MAIL_AGAIN, asked, bool)


async def find_dump(
    conn: Conn, project_id: UUID, event_id: UUID, occurred_at: datetime
) -> BounceSource | None:
    """Return what reported a bounce; None where it is not kept."""
    asked = {"project_id": project_id, "id": event_id, "occurred_at": occurred_at}
    return await maybe(conn, sql.FIND_BOUNCE_DUMP, asked, BounceSource)


def _message(
    headers: Mapping[str, str], query: Mapping[str, str], body: bytes | None
) -> InboundRequest:
    given = InboundRequest("POST", headers, query, body or b"")
    found = message_of(given)
    return InboundRequest("POST", headers, query, b"") if isinstance(found, BadEvent) else found
