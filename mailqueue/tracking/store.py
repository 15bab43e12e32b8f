"""Token keys and tracked links as rows; the only file here that runs SQL."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from mailqueue.contract.domains import TrackingKeyDates
from mailqueue.db.fetch import Conn, many, maybe, run, value
from mailqueue.db.statements import tracking as sql
from mailqueue.tracking.model import (
    Gap,
    RecentClicks,
    SealedKey,
    TrackedLink,
    TrackedProject,
    TrackingDomain,
)


async def list_keys(conn: Conn, project_id: UUID) -> list[SealedKey]:
    """Return the keys of a project, the one that makes tokens first."""
    return await many(conn, sql.LIST_TRACKING_KEYS, {"project_id": project_id}, SealedKey)


async def find_project(conn: Conn, key_id: int) -> UUID | None:
    """Return the project of a key; None when there is no such key."""
    return await maybe(conn, sql.FIND_TRACKING_PROJECT, {"id": key_id}, UUID)


async def add_key(conn: Conn, key_id: int, project_id: UUID, *, sealed: bytes) -> bool:
    """Insert the key a project makes tokens with; False when it has one, or the id is taken."""
    params = {"id": key_id, "project_id": project_id, "sealed": sealed}
    return await value(conn, sql.ADD_TRACKING_KEY, params, bool)


async def retire_key(conn: Conn, project_id: UUID) -> None:
    """Retire the key a project makes tokens with."""
    await run(conn, sql.RETIRE_TRACKING_KEY, {"project_id": project_id})


async def list_revoked(conn: Conn, project_id: UUID) -> list[int]:
    """Return the ids of a project's revoked keys."""
    return await many(conn, sql.LIST_REVOKED_TRACKING_KEYS, {"project_id": project_id}, int)


async def revoke_key(conn: Conn, project_id: UUID, key_id: int) -> bool:
    """Revoke a retired key; False where the project has no such key, or it was revoked before."""
    params = {"project_id": project_id, "id": key_id}
    return await value(conn, sql.REVOKE_TRACKING_KEY, params, int) > 0


async def note(conn: Conn, project_id: UUID, *, by: str, action: str, subject: str) -> None:
    """Write a change of a project's keys to the audit log."""
    params = {"project_id": project_id, "by": by, "action": action, "subject": subject}
    await run(conn, sql.NOTE_TRACKING_KEY, params)


async def read_projects(conn: Conn, ids: Sequence[UUID]) -> list[TrackedProject]:
    """Return the tracking settings of these projects."""
    return await many(conn, sql.READ_TRACKING_PROJECTS, {"ids": list(ids)}, TrackedProject)


async def keep_links(conn: Conn, links: Sequence[TrackedLink]) -> None:
    """Store the destinations of links."""
    params = {
        "projects": [each.project_id for each in links],
        "links": [each.link for each in links],
        "urls": [each.url for each in links],
    }
    await run(conn, sql.KEEP_TRACKED_LINKS, params)


async def find_links(conn: Conn, keys: Sequence[tuple[UUID, bytes]]) -> list[TrackedLink]:
    """Return the destinations of these links."""
    params = {"projects": [each[0] for each in keys], "links": [each[1] for each in keys]}
    return await many(conn, sql.FIND_TRACKED_LINKS, params, TrackedLink)


async def look_at_clicks(
    conn: Conn, ids: Sequence[UUID], *, within: timedelta
) -> list[RecentClicks]:
    """Return when mails were sent, and which of their links were followed within a window."""
    return await many(conn, sql.LOOK_AT_CLICKS, {"ids": list(ids), "within": within}, RecentClicks)


async def judge_clicks(conn: Conn, ids: Sequence[UUID], *, within: timedelta, machine: str) -> None:
    """Mark the clicks within a window as made by a program."""
    params = {"ids": list(ids), "within": within, "machine": machine}
    await run(conn, sql.JUDGE_CLICKS, params)


async def note_gaps(conn: Conn, gaps: Mapping[tuple[UUID, Gap], int]) -> None:
    """Count mail that was sent without something it should contain."""
    params = {
        "projects": [project_id for project_id, _ in gaps],
        "gaps": [str(gap) for _, gap in gaps],
        "emails": list(gaps.values()),
    }
    await run(conn, sql.NOTE_TRACKING_GAPS, params)


async def find_domain(conn: Conn, project: str) -> TrackingDomain | None:
    """Return a project with its tracking domain."""
    return await maybe(conn, sql.FIND_TRACKING_DOMAIN, {"project": project}, TrackingDomain)


async def note_domain(
    conn: Conn, project_id: UUID, domain: str, *, leads_here: bool
) -> datetime | None:
    """Store whether a tracking domain leads here; return since when it does."""
    params = {"project_id": project_id, "domain": domain, "leads_here": leads_here}
    return await maybe(conn, sql.NOTE_TRACKING_DOMAIN, params, datetime)


async def show_keys(conn: Conn, project_id: UUID) -> list[TrackingKeyDates]:
    """Return when the keys of a project were made and retired, newest first."""
    return await many(
        conn, sql.LIST_TRACKING_KEYS_SHOWN, {"project_id": project_id}, TrackingKeyDates
    )


async def confirmed_domains(conn: Conn) -> list[str]:
    """Return the tracking domains of all projects whose DNS leads here."""
    return await many(conn, sql.LIST_CONFIRMED_DOMAINS, None, str)
