"""SQL of pauses in one project."""

from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from mailqueue.contract.operations import Pause
from mailqueue.core.mailboxes import wire_domain
from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.refusals import refusals
from mailqueue.db.statements.operations import actions as sql


class CampaignName(NamedTuple):
    """One row of the campaigns of a project."""

    name: str


async def pauses_of(
    conn: Conn,
    project_id: UUID | None,
    *,
    kind: str | None = None,
    name: str | None = None,
    after: tuple[str | None, str | None, str | None] = (None, None, None),
    limit: int,
) -> list[Pause]:
    """Return a page of what is paused in a project, or in all; `after` names the last pause of the
    page before: project, kind and name.
    """
    project, after_kind, after_name = after
    asked = {"project_id": project_id, "kind": kind, "name": name, "limit": limit}
    last = {"after_project": project, "after_kind": after_kind, "after_name": after_name}
    return await fetch.many(conn, sql.LIST_PAUSES_OF_PROJECT, asked | last, Pause)


async def pause_in(
    conn: Conn,
    project_id: UUID,
    *,
    kind: str,
    name: str,
    until: datetime | timedelta | None,
    reason: str | None,
    by: str,
) -> int:
    """Pause mail of a project; return the number of the operation."""
    asked = {
        "project_id": project_id,
        "kind": kind,
        "name": name_stored(kind, name),
        "until": until if isinstance(until, datetime) else None,
        "wait": until if isinstance(until, timedelta) else None,
        "reason": reason,
        "by": by,
    }
    with refusals():
        return await fetch.value(conn, sql.PAUSE_IN_PROJECT, asked, int)


async def resume_in(conn: Conn, project_id: UUID, *, kind: str, name: str, by: str) -> bool:
    """End a pause in a project; return False when there was none."""
    asked = {"project_id": project_id, "kind": kind, "name": name_stored(kind, name), "by": by}
    with refusals():
        return await fetch.value(conn, sql.RESUME_IN_PROJECT, asked, bool)


async def campaign_has_emails(conn: Conn, project_id: UUID, name: str) -> bool:
    """Return whether an email of the project, queued or finished, has the campaign."""
    asked = {"project_id": project_id, "name": name}
    return await fetch.value(conn, sql.CAMPAIGN_HAS_EMAILS, asked, bool)


async def newest_campaigns(conn: Conn, project_id: UUID, *, limit: int) -> list[str]:
    """Return campaigns of the project that have counts, newest first."""
    asked = {"project_id": project_id, "limit": limit}
    found = await fetch.many(conn, sql.LIST_NEWEST_CAMPAIGNS, asked, CampaignName)
    return [each.name for each in found]


def name_stored(kind: str, name: str) -> str:
    """Return the name of what is paused, as it is stored. Pure."""
    return wire_domain(name) if kind == "domain" else name
