"""SQL of bounces, messages, opens and clicks for Postmark's API."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from mailqueue.api.compat.suppressed.model import SuppressedList
from mailqueue.db.fetch import Conn, many, value
from mailqueue.db.statements.emails import bounced as bounced_sql
from mailqueue.db.statements.emails import messages as messages_sql
from mailqueue.mail.reads.model import EmailQuery


@dataclass(frozen=True, slots=True)
class BounceRow:
    """A bounce or complaint, with what is stored of its mail; `type` is that of the event."""

    id: UUID
    occurred_at: datetime
    type: str
    email_id: UUID
    recipient_email: str | None
    code: str | None
    detail: str | None
    subject: str | None
    from_email: str | None
    category: str | None
    tags: list[str] | None
    is_inactive: bool
    has_dump: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BounceFilter:
    """Filters of bounces; a bounce is listed if all given filters match."""

    types: Sequence[str]
    email_id: UUID | None = None
    address: str | None = None  # part of the address
    tag: str | None = None
    since: datetime | None = None
    until: datetime | None = None  # inclusive

    def params(self) -> dict[str, Any]:
        """Return the filters as SQL parameters."""
        named = {each.name: getattr(self, each.name) for each in fields(self)}
        return named | {"types": list(self.types)}


class BounceCount(NamedTuple):
    """The number of bounces of one type."""

    type: str
    events: int


async def list_bounces(
    conn: Conn,
    project_id: UUID,
    chosen: BounceFilter,
    *,
    inactive: SuppressedList,
    limit: int,
    offset: int = 0,
    number: int | None = None,
) -> list[BounceRow]:
    """Return bounces, newest first, or the one of a number; `inactive` are the reasons for which
    the address of one is inactive.
    """
    asked = {
        **chosen.params(),
        "project_id": project_id,
        "reasons": [reason.value for reason in inactive.reasons],
        "number": number,
        "limit": limit,
        "offset": offset,
    }
    return await many(conn, bounced_sql.LIST_BOUNCES, asked, BounceRow)


async def count_bounces(conn: Conn, project_id: UUID, chosen: BounceFilter) -> dict[str, int]:
    """Return the number of bounces of each type."""
    asked = {**chosen.params(), "project_id": project_id}
    return {
        one.type: one.events
        for one in await many(conn, bounced_sql.COUNT_BOUNCES, asked, BounceCount)
    }


async def list_bounced_tags(conn: Conn, project_id: UUID, *, limit: int) -> list[str]:
    """Return the tags of mail that bounced or was complained about, in order."""
    return await many(
        conn, bounced_sql.LIST_BOUNCED_TAGS, {"project_id": project_id, "limit": limit}, str
    )


async def count_suppressed(conn: Conn, project_id: UUID, wanted: SuppressedList) -> int:
    """Return the number of addresses of a list."""
    asked = {
        "project_id": project_id,
        "reasons": [reason.value for reason in wanted.reasons],
        "categories": list(wanted.categories or ()),
    }
    return await value(conn, bounced_sql.COUNT_SUPPRESSED, asked, int)


@dataclass(frozen=True, slots=True)
class MessageRow:
    """A mail in a list."""

    id: UUID
    status: str
    category: str
    from_email: str | None
    from_name: str | None
    recipient_email: str
    recipient_name: str | None
    subject: str | None
    tags: list[str] | None
    custom_data: Any
    created_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class VisitRow:
    """An open or a click."""

    id: UUID
    occurred_at: datetime
    recipient_email: str | None
    data: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class ProjectVisitRow(VisitRow):
    """An open or a click, with what is stored of its mail."""

    email_id: UUID
    category: str | None
    tags: list[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitFilter:
    """Filters of the opens or clicks of a project; `type` is that of the event."""

    project_id: UUID
    type: str
    recipient: str | None = None
    tag: str | None = None
    category: str | None = None


async def list_messages(
    conn: Conn, wanted: EmailQuery, *, count: int, offset: int
) -> list[MessageRow]:
    """Return mail after the first `offset` ones, newest first."""
    asked = wanted.params() | {"limit": offset + count, "offset": offset}
    return await many(conn, messages_sql.LIST_MESSAGES, asked, MessageRow)


async def count_messages(conn: Conn, wanted: EmailQuery, *, limit: int) -> int:
    """Return the number of mails, at most `limit`."""
    return await value(conn, messages_sql.COUNT_MESSAGES, wanted.params() | {"limit": limit}, int)


async def list_visits(
    conn: Conn, email_id: UUID, *, project_id: UUID, kind: str, limit: int, offset: int
) -> list[VisitRow]:
    """Return opens or clicks of a mail, newest first."""
    asked = {
        "email_id": email_id,
        "project_id": project_id,
        "type": kind,
        "limit": limit,
        "offset": offset,
    }
    return await many(conn, messages_sql.LIST_VISITS, asked, VisitRow)


async def count_visits(conn: Conn, email_id: UUID, *, project_id: UUID, kind: str) -> int:
    """Return the number of opens or clicks of a mail."""
    asked = {"email_id": email_id, "project_id": project_id, "type": kind}
    return await value(conn, messages_sql.COUNT_VISITS, asked, int)


async def list_project_visits(
    conn: Conn, chosen: VisitFilter, *, limit: int, offset: int
) -> list[ProjectVisitRow]:
    """Return opens or clicks of all mail of a project, newest first."""
    asked = asdict(chosen) | {"limit": limit, "offset": offset}
    return await many(conn, messages_sql.LIST_PROJECT_VISITS, asked, ProjectVisitRow)


async def count_project_visits(conn: Conn, chosen: VisitFilter, *, limit: int) -> int:
    """Return the number of opens or clicks of all mail of a project, at most `limit`."""
    return await value(
        conn, messages_sql.COUNT_PROJECT_VISITS, asdict(chosen) | {"limit": limit}, int
    )
