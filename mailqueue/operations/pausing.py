"""Pause and resume the mail of a project, sender account, campaign or recipient domain."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from mailqueue.contract.operations import BulkResult, Pause
from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.operations import bulk
from mailqueue.operations.store import actions as actions_store


class PauseKind(StrEnum):
    """What can be paused."""

    PROJECT = "project"
    CAMPAIGN = "campaign"
    DOMAIN = "domain"
    SENDER = "sender"


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
