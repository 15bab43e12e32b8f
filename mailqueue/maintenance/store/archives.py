"""SQL of the archive's manifest."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from uuid import UUID

from mailqueue.contract.maintenance import ArchiveFile
from mailqueue.contract.projects import Retention
from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.refusals import refusals
from mailqueue.db.statements.maintenance import archive as sql
from mailqueue.maintenance.archive.file_format import FileDraft
from mailqueue.maintenance.model import Archive, Leftover

DEFAULT_RULE = "all"
"""The rule of projects without one of their own."""


async def start(
    conn: Conn, *, project_id: UUID, kind: str, month: date, store: str, host: str
) -> Archive:
    """Insert a file that is about to be written."""
    asked = {"project_id": project_id, "kind": kind, "month": month, "store": store, "host": host}
    return await fetch.one(conn, sql.START_ARCHIVE, asked, Archive)


async def forget_empty(conn: Conn, archive_id: int) -> None:
    """Delete it again: there was nothing to write."""
    await fetch.run(conn, sql.FORGET_EMPTY_ARCHIVE, {"id": archive_id})


async def find(conn: Conn, archive_id: int) -> Archive | None:
    """Return one archive file."""
    return await fetch.maybe(conn, sql.FIND_ARCHIVE, {"id": archive_id}, Archive)


async def in_states(
    conn: Conn,
    states: Sequence[str],
    *,
    project: str | None = None,
    month: date | None = None,
    kind: str | None = None,
) -> list[Archive]:
    """Return files in these states, of one project, month and kind or of all."""
    asked = {"states": list(states), "project": project, "month": month, "kind": kind}
    return await fetch.many(conn, sql.LIST_ARCHIVES, asked, Archive)


async def files(
    conn: Conn,
    *,
    project: str | None = None,
    month: date | None = None,
    kind: str | None = None,
    with_purged: bool = False,
) -> list[ArchiveFile]:
    """Return files in the form shown to operators."""
    asked = {"project": project, "month": month, "kind": kind, "with_purged": with_purged}
    return await fetch.many(conn, sql.LIST_ARCHIVE_FILES, asked, ArchiveFile)


async def unfinished(conn: Conn) -> list[Archive]:
    """Return files whose rows are being deleted."""
    return await fetch.many(conn, sql.LIST_UNFINISHED_ARCHIVES, None, Archive)


async def is_held_in_table(conn: Conn, *, project_id: UUID, kind: str, month: date) -> bool:
    """Return whether an unfinished file of that project, kind and month must be finished first."""
    asked = {"project_id": project_id, "kind": kind, "month": month}
    return await fetch.value(conn, sql.IS_HELD_IN_TABLE, asked, bool)


async def written(conn: Conn, archive_id: int, draft: FileDraft, *, host: str) -> None:
    """Record that the file is complete in its store."""
    await fetch.run(conn, sql.RECORD_WRITTEN, {"id": archive_id, "host": host, **_sizes(draft)})


async def unwritten(conn: Conn, archive_id: int) -> None:
    """Record that the file is not what was written."""
    await fetch.run(conn, sql.RECORD_UNWRITTEN, {"id": archive_id})


async def verified(conn: Conn, archive_id: int) -> None:
    """Record that the whole file was read back."""
    await fetch.run(conn, sql.RECORD_VERIFIED, {"id": archive_id})


async def removed(conn: Conn, archive_id: int, *, removed: int, gone_elsewhere: list[int]) -> None:
    """Record how many rows are deleted, and the positions of rows that are in use again."""
    asked = {"id": archive_id, "removed": removed, "gone_elsewhere": gone_elsewhere}
    await fetch.run(conn, sql.RECORD_REMOVED, asked)


async def archived(conn: Conn, archive_id: int) -> None:
    """Record that the table has no row of the file."""
    await fetch.run(conn, sql.RECORD_ARCHIVED, {"id": archive_id})


async def restored(conn: Conn, archive_id: int, *, keep: timedelta) -> None:
    """Record that all rows of the file are in the table again, until the time `keep` has passed."""
    await fetch.run(conn, sql.RECORD_RESTORED, {"id": archive_id, "keep": keep})


async def end_restored(conn: Conn, archive_id: int) -> None:
    """Record that restored rows may be archived again."""
    await fetch.run(conn, sql.END_RESTORED, {"id": archive_id})


@dataclass(frozen=True, slots=True)
class FileLocation:
    """Store, path and tier of a file."""

    store: str
    path: str
    tier: str
    revision: int


async def replace(
    conn: Conn,
    archive: Archive,
    place: FileLocation,
    *,
    draft: FileDraft,
    removed: int,
    gone_elsewhere: list[int],
) -> bool:
    """Replace the file of an archive by another; return False where it was replaced meanwhile."""
    asked = {
        "id": archive.id,
        "old_revision": archive.revision,
        "store": place.store,
        "path": place.path,
        "tier": place.tier,
        "revision": place.revision,
        "removed": removed,
        "gone_elsewhere": gone_elsewhere,
        **_sizes(draft),
    }
    return await fetch.run(conn, sql.REPLACE_ARCHIVE_FILE, asked) == 1


async def leftovers(conn: Conn) -> list[Leftover]:
    """Return files that are still to be deleted."""
    return await fetch.many(conn, sql.LIST_LEFTOVERS, None, Leftover)


async def forget_leftover(conn: Conn, leftover: Leftover) -> None:
    """Record that the file is deleted."""
    await fetch.run(conn, sql.FORGET_LEFTOVER, {"id": leftover.id, "path": leftover.path})


async def cooling(conn: Conn) -> list[Archive]:
    """Return files old enough for the cold store."""
    return await fetch.many(conn, sql.LIST_COOLING_ARCHIVES, None, Archive)


async def purge(conn: Conn) -> int:
    """Mark files past retention as purged; return their number."""
    return len(await fetch.many(conn, sql.PURGE_ARCHIVES, None, int))


async def retention(conn: Conn, project: str | None) -> list[Retention]:
    """Return the retention of each kind."""
    return await fetch.many(conn, sql.LIST_RETENTION, {"project": project}, Retention)


async def change_retention(conn: Conn, rule: Retention, *, by: str) -> Retention | None:
    """Set the retention of one kind; return the one before.

    Raises:
        InvalidField: there is no such project, or the days are invalid.
    """
    asked = {
        "project": None if rule.project == DEFAULT_RULE else rule.project,
        "kind": rule.kind,
        "hot_days": rule.hot_days,
        "warm_days": rule.warm_days,
        "keep_days": rule.keep_days,
        "by": by,
    }
    with refusals(otherwise=""):
        return await fetch.maybe(conn, sql.CHANGE_RETENTION, asked, Retention)


async def reset_retention(conn: Conn, kind: str, *, project: str, by: str) -> bool:
    """Delete a project's own retention of a kind; return False where it had none."""
    asked = {"project": project, "kind": kind, "by": by}
    with refusals(otherwise=""):
        return await fetch.value(conn, sql.RESET_RETENTION, asked, bool)


def _sizes(draft: FileDraft) -> dict[str, object]:
    return {
        "records": draft.records,
        "bytes": draft.bytes,
        "sha256": draft.sha256,
        "first_at": draft.first_at,
        "last_at": draft.last_at,
    }
