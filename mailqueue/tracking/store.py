"""Keys of tokens and tracked links as rows; the only file here that runs SQL."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from mailqueue.db.fetch import Conn, many, maybe, run, value
from mailqueue.tracking.model import (
    Gap,
    RecentClicks,
    SealedKey,
    TrackedLink,
    TrackedProject,
    TrackingDomain,
    TrackingKeyDates,
)


async def list_keys(conn: Conn, project_id: UUID) -> list[SealedKey]:
    """List the keys of a project, the one that makes tokens first."""
    return await many(conn, "list_tracking_keys", {"project_id": project_id}, SealedKey)


async def find_project(conn: Conn, key_id: int) -> UUID | None:
    """Return whose key this is."""
    return await maybe(conn, "find_tracking_project", {"id": key_id}, UUID)


async def add_key(conn: Conn, key_id: int, project_id: UUID, *, sealed: bytes) -> bool:
    """Have a project make tokens with a key; False where it has one, or the id is taken."""
    params = {"id": key_id, "project_id": project_id, "sealed": sealed}
    return await value(conn, "add_tracking_key", params, bool)


async def retire_key(conn: Conn, project_id: UUID) -> None:
    """Have a project's key make no more tokens."""
    await run(conn, "retire_tracking_key", {"project_id": project_id})


async def read_projects(conn: Conn, ids: Sequence[UUID]) -> list[TrackedProject]:
    """Read what the mail of these projects has in common."""
    return await many(conn, "read_tracking_grounds", {"ids": list(ids)}, TrackedProject)


async def keep_links(conn: Conn, links: Sequence[TrackedLink]) -> None:
    """Write down where links lead; each may be there already."""
    params = {
        "projects": [each.project_id for each in links],
        "links": [each.link for each in links],
        "urls": [each.url for each in links],
    }
    await run(conn, "keep_tracked_links", params)


async def find_links(conn: Conn, wanted: Sequence[tuple[UUID, bytes]]) -> list[TrackedLink]:
    """Find where these links of projects lead."""
    params = {"projects": [each[0] for each in wanted], "links": [each[1] for each in wanted]}
    return await many(conn, "find_tracked_links", params, TrackedLink)


async def look_at_clicks(
    conn: Conn, ids: Sequence[UUID], *, within: timedelta
) -> list[RecentClicks]:
    """Return when mails were handed over, and which of their links were followed within a time."""
    return await many(conn, "look_at_clicks", {"ids": list(ids), "within": within}, RecentClicks)


async def judge_clicks(conn: Conn, ids: Sequence[UUID], *, within: timedelta, machine: str) -> None:
    """Say of clicks within that time that a program made them, which was not seen then."""
    params = {"ids": list(ids), "within": within, "machine": machine}
    await run(conn, "judge_clicks", params)


async def note_gaps(conn: Conn, gaps: Mapping[tuple[UUID, Gap], int]) -> None:
    """Count mail that went without something it should have had."""
    params = {
        "projects": [project_id for project_id, _ in gaps],
        "gaps": [str(gap) for _, gap in gaps],
        "emails": list(gaps.values()),
    }
    await run(conn, "note_dressing_gaps", params)


async def find_domain(conn: Conn, project: str) -> TrackingDomain | None:
    """Find a project, with the domain of its links."""
    return await maybe(conn, "find_tracking_domain", {"project": project}, TrackingDomain)


async def note_domain(
    conn: Conn, project_id: UUID, domain: str, *, leads_here: bool
) -> datetime | None:
    """Write down whether a tracking domain leads here; return since when it is known to."""
    params = {"project_id": project_id, "domain": domain, "leads_here": leads_here}
    return await maybe(conn, "note_tracking_domain", params, datetime)


async def show_keys(conn: Conn, project_id: UUID) -> list[TrackingKeyDates]:
    """List when the keys of a project were made and retired, newest first."""
    return await many(
        conn, "list_tracking_keys_shown", {"project_id": project_id}, TrackingKeyDates
    )
