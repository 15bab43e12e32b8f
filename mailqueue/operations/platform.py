"""Pause and resume all sending; drain workers, so that they finish what they have."""

from datetime import datetime, timedelta
from uuid import UUID

from mailqueue.contract.infrastructure import DrainedWorkers, PlatformPause
from mailqueue.contract.operations import BulkResult, Pause
from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.operations.model import StoppedEmails
from mailqueue.operations.store import platform as store


async def current_pause(conn: Conn) -> Pause | None:
    """Return the pause of all sending; None: there is none."""
    return await store.current_pause(conn)


async def state(conn: Conn) -> PlatformPause:
    """Return whether all sending is paused, and how many emails wait."""
    found, waiting = await current_pause(conn), (await count_waiting(conn)).emails
    if found is None:
        return PlatformPause(False, None, None, None, None, waiting)
    return PlatformPause(True, found.reason, found.until, found.actor, found.since, waiting)


async def pause(
    conn: Conn, *, until: datetime | timedelta | None, reason: str, by: str
) -> BulkResult:
    """Let no worker claim an email; `until` None: until it is resumed.

    Emails are accepted meanwhile, and those that workers hold are sent. A pause that is in force
    is replaced.

    Raises:
        InvalidField: a field is invalid.
    """
    return BulkResult(await store.pause(conn, until=until, reason=reason, by=by), 0)


async def resume(conn: Conn, *, by: str) -> None:
    """End the pause of all sending.

    Raises:
        NotFound: there is none.
    """
    if not await store.resume(conn, by=by):
        raise NotFound("pause of", "the platform")


async def count_waiting(
    conn: Conn, project_id: UUID | None = None, *, kind: str = "platform", name: str = ""
) -> StoppedEmails:
    """Return the number of queued emails that a pause would stop: of all projects, or in one.

    At most 100,000 queued emails are counted. Of a sender account those count that no other account
    may send.
    """
    return await store.count_waiting(conn, project_id, kind=kind, name=name)


async def drain(
    conn: Conn, *, worker: int | None = None, host: str | None = None, by: str
) -> DrainedWorkers:
    """Let a running worker, or all of a host, finish what they hold and claim nothing more.

    Raises:
        InvalidField: neither or both are named.
        NotFound: no worker that runs, and is not drained, is named so.
    """
    return await _drained(conn, worker, host, is_drained=True, by=by)


async def resume_workers(
    conn: Conn, *, worker: int | None = None, host: str | None = None, by: str
) -> DrainedWorkers:
    """Let drained workers claim again.

    Raises:
        InvalidField: neither or both are named.
        NotFound: no drained worker is named so.
    """
    return await _drained(conn, worker, host, is_drained=False, by=by)


async def _drained(
    conn: Conn, worker: int | None, host: str | None, *, is_drained: bool, by: str
) -> DrainedWorkers:
    changed = await store.drain(conn, worker=worker, host=host, is_drained=is_drained, by=by)
    if not changed:
        kind = "running worker" if is_drained else "drained worker"
        raise NotFound(kind, worker if host is None else f"on host {host}")
    return DrainedWorkers(changed)
