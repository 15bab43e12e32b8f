"""Pause and resume the mail of a project, sender account, campaign or recipient domain."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from difflib import get_close_matches
from enum import StrEnum
from uuid import UUID

from mailqueue.contract.operations import BulkResult, Pause
from mailqueue.core.address import InvalidAddress, parse_address
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.operations import bulk
from mailqueue.operations.store import actions as actions_store
from mailqueue.operations.store import pauses as pauses_store
from mailqueue.projects import manage as projects_manage


class PauseKind(StrEnum):
    """What can be paused."""

    PROJECT = "project"
    CAMPAIGN = "campaign"
    DOMAIN = "domain"
    SENDER = "sender"


MAX_LISTED = 1000
"""Pauses that are listed at most where no limit is given."""
MAX_COMPARED = 1000
"""Campaigns with which one that no email has is compared, the newest ones."""
MAX_SUGGESTED = 3
MIN_SIMILARITY = 0.7
"""Share of common characters, 0 to 1, from which a campaign is suggested."""


@dataclass(frozen=True, slots=True)
class Target:
    """An object that is paused or resumed; a project has its own name."""

    kind: PauseKind
    project: str
    name: str


async def pause(
    conn: Conn,
    target: Target,
    *,
    until: datetime | timedelta | None,
    reason: str | None,
    by: str,
    advance: Callable[[int], None],
) -> BulkResult:
    """Pause an object and move its queued mail aside; `until` None: until it is resumed.

    Raises:
        InvalidField: a field is invalid.
    """
    if target.kind is PauseKind.DOMAIN:
        _check_domain(target.name)
    operation = await actions_store.pause(
        conn,
        target.project,
        kind=target.kind,
        name=target.name,
        until=until,
        reason=reason,
        by=by,
    )
    if target.kind in (PauseKind.PROJECT, PauseKind.SENDER):
        return BulkResult(operation, 0)  # its lanes are blocked; no mail is moved
    # One pass: mail that a worker holds is stopped by the mark.
    return BulkResult(operation, await bulk.go_on(conn, operation, walks=1, advance=advance))


async def check_campaign(conn: Conn, project_id: UUID, name: str) -> None:
    """Refuse a campaign that no email of the project has: most likely it is misspelt.

    Raises:
        InvalidField: no email has it; the text names campaigns like it.
    """
    if not name or await pauses_store.campaign_has_emails(conn, project_id, name):
        return
    known = await pauses_store.newest_campaigns(conn, project_id, limit=MAX_COMPARED)
    like = get_close_matches(name, known, n=MAX_SUGGESTED, cutoff=MIN_SIMILARITY)
    rest = f"; did you mean {' or '.join(like)}?" if like else ""
    raise InvalidField("name", f"no email of this project has the campaign {name}{rest}")


async def resume(conn: Conn, target: Target, *, by: str) -> None:
    """End a pause.

    Raises:
        InvalidField: there is no such project.
        NotFound: it is not paused.
    """
    if not await actions_store.resume(
        conn, target.project, kind=target.kind, name=target.name, by=by
    ):
        raise NotFound("pause of", f"{target.kind} {target.name} in project {target.project}")


async def list_all(conn: Conn, *, project: str | None) -> list[Pause]:
    """Return the current pauses; None: those of every project."""
    return await actions_store.pauses(conn, project)


async def list_of(
    conn: Conn,
    project_id: UUID | None,
    *,
    kind: PauseKind | None = None,
    after: tuple[str | None, str | None, str | None] = (None, None, None),
    limit: int = MAX_LISTED,
) -> list[Pause]:
    """Return what is paused in a project, or in all, by project, kind and name.

    `after` is project, kind and name of the last pause of the page before.
    """
    return await pauses_store.pauses_of(conn, project_id, kind=kind, after=after, limit=limit)


async def find_campaign(conn: Conn, project_id: UUID, name: str) -> Pause | None:
    """Return the pause of a campaign, None if it is not paused."""
    found = await pauses_store.pauses_of(
        conn, project_id, kind=PauseKind.CAMPAIGN, name=name, limit=1
    )
    return found[0] if found else None


async def pause_in(
    conn: Conn,
    project_id: UUID,
    *,
    kind: PauseKind,
    name: str,
    until: datetime | timedelta | None,
    reason: str | None,
    by: str,
) -> Pause:
    """Pause an object of a project, in the caller's transaction; `until` None: until it is resumed.

    A project needs no name; one that is given must be its own. Mail that is queued already is set
    aside by workers, before they would send it.

    Raises:
        InvalidField: a field is invalid.
    """
    if kind is PauseKind.PROJECT:
        await _check_project(conn, project_id, name)
    elif not name:
        raise InvalidField("name", "is needed")
    if kind is PauseKind.DOMAIN:
        _check_domain(name)
    await pauses_store.pause_in(
        conn, project_id, kind=kind, name=name, until=until, reason=reason, by=by
    )
    stored = None if kind is PauseKind.PROJECT else pauses_store.name_stored(kind, name)
    found = await pauses_store.pauses_of(conn, project_id, kind=kind, name=stored, limit=1)
    if not found:
        raise InvalidField("until", "must be in the future")
    return found[0]


async def resume_in(conn: Conn, project_id: UUID, *, kind: PauseKind, name: str, by: str) -> None:
    """End a pause in a project, in the caller's transaction.

    Raises:
        InvalidField: the name of another project is given.
        NotFound: it is not paused.
    """
    if kind is PauseKind.PROJECT:
        await _check_project(conn, project_id, name)
    if not await pauses_store.resume_in(conn, project_id, kind=kind, name=name, by=by):
        raise NotFound("pause of", f"{kind} {name}")


async def _check_project(conn: Conn, project_id: UUID, name: str) -> None:
    if not name:
        return
    mine = await projects_manage.find_by_id(conn, project_id)
    if name not in (mine.name, str(project_id)):
        raise InvalidField(
            "name", f"must be {mine.name}, the project that is paused as a whole, or nothing"
        )


def _check_domain(name: str) -> None:
    try:
        parse_address("postmaster@" + name.removeprefix("@"))
    except InvalidAddress:
        raise InvalidField("name", "must be a domain such as example.com") from None
