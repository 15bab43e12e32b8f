"""SQL of broadcasts."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn, many, maybe, one
from mailqueue.db.statements import broadcasts as sql
from mailqueue.webhooks.ids import new_id

SINGLE_SEND = "singlesend"
_SUMMARY = ("categories", "send_at")


@dataclass(frozen=True, slots=True)
class BroadcastFields:
    """What a draft says; `content` has the fields of its mail by Resend's names, or as the entry
    SINGLE_SEND what SendGrid's clients wrote.
    """

    name: str
    list_id: UUID | None
    topic: str | None
    content: Mapping[str, Any]

    def params(self, project_id: UUID) -> dict[str, Any]:
        """Return SQL parameters: with what lists show of a single send, None of Resend's."""
        said = self.content.get(SINGLE_SEND)
        summary = None if said is None else {key: said.get(key) for key in _SUMMARY}
        return {
            "project_id": project_id,
            "name": self.name,
            "list_id": self.list_id,
            "topic": self.topic,
            "content": Jsonb(self.content),
            "summary": None if summary is None else Jsonb(summary),
        }


@dataclass(frozen=True, slots=True)
class Broadcast:
    """A broadcast: draft, scheduled, queued, sent, canceled or failed.

    `template` is that of its schedule, as `slug@version`; `content` has no texts in lists.
    `has_mail`: its schedule has made mail, maybe not to all, or its run was deleted by retention.
    """

    id: UUID
    name: str
    list_id: UUID | None
    topic: str | None
    created_at: datetime
    updated_at: datetime
    schedule_id: UUID | None
    scheduled_at: datetime | None
    sent_at: datetime | None
    template: str | None
    has_mail: bool
    content: dict[str, Any]
    status: str

    def fields(self) -> BroadcastFields:
        """Return what it says."""
        return BroadcastFields(self.name, self.list_id, self.topic, self.content)


@dataclass(frozen=True, slots=True)
class SoughtBroadcasts:
    """What single sends are sought: by their names' part, one of their categories, their status by
    SendGrid's names and their ids; None for all.
    """

    name: str | None = None
    categories: list[str] | None = None
    statuses: list[str] | None = None
    among: list[UUID] | None = None


@dataclass(frozen=True, slots=True)
class PageOfIds:
    """A page of ids, with one more where another page follows."""

    total: int
    is_there: bool
    ids: list[UUID]


@dataclass(frozen=True, slots=True)
class SingleSendsPage:
    """A page of single sends, of `total`; `is_there`: the one that it begins behind is sought."""

    total: int
    is_there: bool
    has_more: bool
    single_sends: list[Broadcast]


async def list_beside(
    conn: Conn,
    project_id: UUID,
    *,
    after: UUID | None = None,
    before: UUID | None = None,
    limit: int,
    of_sendgrid: bool = False,
) -> list[Broadcast]:
    """Return broadcasts older than `after`, newest first; with `before`, those that are newer,
    oldest first. `of_sendgrid`: single sends, else those of Resend's API.
    """
    asked = _asked(project_id, None, of_sendgrid) | {"after": after, "before": before}
    return await many(conn, sql.LIST_BROADCASTS, asked | {"limit": limit}, Broadcast)


async def page_single_sends(
    conn: Conn,
    project_id: UUID,
    sought: SoughtBroadcasts,
    *,
    after: UUID | None = None,
    limit: int,
) -> SingleSendsPage:
    """Return up to `limit` of the single sends that are sought, newest first, those older than
    `after`.
    """
    asked = {"project_id": project_id, "after": after, **asdict(sought)}
    page = await one(conn, sql.PAGE_SINGLE_SENDS, asked | {"limit": limit + 1}, PageOfIds)
    listed = _asked(project_id, None, True) | {"ids": page.ids[:limit], "limit": limit}
    found = await many(conn, sql.LIST_BROADCASTS, listed, Broadcast) if page.ids else []
    return SingleSendsPage(page.total, page.is_there, len(page.ids) > limit, found)


async def list_categories(conn: Conn, project_id: UUID, *, limit: int) -> list[str]:
    """Return the categories of the newest single sends, by name."""
    asked = {"project_id": project_id, "limit": limit}
    return await many(conn, sql.LIST_SINGLE_SEND_CATEGORIES, asked, str)


async def find(
    conn: Conn, project_id: UUID, broadcast_id: UUID, *, of_sendgrid: bool = False
) -> Broadcast | None:
    """Return a broadcast with its content; None where the project has none of that id."""
    asked = _asked(project_id, broadcast_id, of_sendgrid) | {"limit": 1}
    found = await many(conn, sql.LIST_BROADCASTS, asked, Broadcast)
    return found[0] if found else None


async def add(
    conn: Conn, project_id: UUID, fields: BroadcastFields, *, most: int, by: str
) -> UUID | None:
    """Add a draft and return its id; None where the project has `most` broadcasts."""
    asked = fields.params(project_id) | {"id": new_id(), "most": most, "by": by}
    return await maybe(conn, sql.ADD_BROADCAST, asked, UUID)


async def change(conn: Conn, project_id: UUID, seen: Broadcast, fields: BroadcastFields) -> bool:
    """Replace what a draft says; return False where it is no draft, or not as it was `seen`."""
    asked = fields.params(project_id) | {"id": seen.id, "seen_at": seen.updated_at}
    return await maybe(conn, sql.CHANGE_BROADCAST, asked, UUID) is not None


async def begin(conn: Conn, project_id: UUID, broadcast_id: UUID, schedule_id: UUID) -> bool:
    """Record the schedule that sends a draft; return False where it is no draft."""
    asked = {"project_id": project_id, "id": broadcast_id, "schedule_id": schedule_id}
    return await maybe(conn, sql.BEGIN_BROADCAST, asked, UUID) is not None


async def take_back(conn: Conn, project_id: UUID, broadcast_id: UUID, schedule_id: UUID) -> bool:
    """Make a broadcast a draft again; return False where another schedule sends it."""
    asked = {"project_id": project_id, "id": broadcast_id, "schedule_id": schedule_id}
    return await maybe(conn, sql.TAKE_BACK_BROADCAST, asked, UUID) is not None


async def remove(conn: Conn, project_id: UUID, broadcast_id: UUID) -> bool:
    """Remove a draft; return False where it is no draft."""
    asked = {"project_id": project_id, "id": broadcast_id}
    return await maybe(conn, sql.REMOVE_BROADCAST, asked, UUID) is not None


def _asked(project_id: UUID, broadcast_id: UUID | None, of_sendgrid: bool) -> dict[str, Any]:
    named = {"project_id": project_id, "id": broadcast_id, "of_sendgrid": of_sendgrid}
    return named | {"ids": None, "after": None, "before": None}
