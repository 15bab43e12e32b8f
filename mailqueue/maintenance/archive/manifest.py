"""List, verify, restore and read archive files."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from mailqueue.contract.maintenance import ArchiveFile, Restored, VerifiedFile
from mailqueue.contract.projects import Retention
from mailqueue.core.errors import MailqueueError, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.maintenance.archive import file_format
from mailqueue.maintenance.archive.check import check
from mailqueue.maintenance.archive.restore import MAY_COME_BACK, restore
from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.maintenance.model import Archive, ArchiveState
from mailqueue.maintenance.store import archives as archives_store
from mailqueue.maintenance.store.archives import DEFAULT_RULE

__all__ = ["DEFAULT_RULE"]
_HAVE_A_FILE = (
    ArchiveState.WRITTEN,
    ArchiveState.VERIFIED,
    ArchiveState.ARCHIVED,
    ArchiveState.RESTORED,
)


@dataclass(frozen=True, slots=True)
class FileFilter:
    """Filter of archive files: by id, else by all given fields."""

    ids: tuple[int, ...] = ()
    project: str | None = None
    month: date | None = None
    kind: str | None = None


async def listed(conn: Conn, filters: FileFilter, *, with_purged: bool) -> list[ArchiveFile]:
    """Return files, oldest first, in the form shown to operators."""
    found = await archives_store.files(
        conn,
        project=filters.project,
        month=filters.month,
        kind=filters.kind,
        with_purged=with_purged,
    )
    return [each for each in found if not filters.ids or each.id in filters.ids]


async def chosen(
    conn: Conn, filters: FileFilter, *, states: Sequence[str] = _HAVE_A_FILE
) -> list[Archive]:
    """Return the files that match.

    Raises:
        NotFound: a named file does not exist, or has another state.
    """
    found = await archives_store.in_states(
        conn, states, project=filters.project, month=filters.month, kind=filters.kind
    )
    if not filters.ids:
        return found
    by_id = {each.id: each for each in found}
    for archive_id in filters.ids:
        if archive_id not in by_id:
            raise NotFound("usable archive file", archive_id)
    return [by_id[archive_id] for archive_id in filters.ids]


async def verify(context: MaintenanceContext, filters: FileFilter) -> AsyncIterator[VerifiedFile]:
    """Read files to their last byte, and yield the result of each."""
    for archive in await chosen(context.conn, filters):
        fault = None
        try:
            await check(context.stores.at(archive.store), archive)
            await archives_store.verified(context.conn, archive.id)
        except MailqueueError as exc:
            fault = str(exc)
        context.advance(archive.records or 0)
        yield VerifiedFile(archive.id, archive.path, archive.records or 0, fault)


async def bring_back(
    context: MaintenanceContext, filters: FileFilter, *, keep: timedelta
) -> AsyncIterator[Restored]:
    """Restore files one by one. The caller holds the archive's lock."""
    for archive in await chosen(context.conn, filters, states=MAY_COME_BACK):
        count = await restore(context, archive, keep=keep)
        yield Restored(archive.id, archive.path, count)


async def read(
    context: MaintenanceContext, filters: FileFilter, *, having: str | None
) -> AsyncIterator[bytes]:
    """Yield the records of files as JSON lines: those that contain a text, or all."""
    sought = having.lower() if having is not None else None
    for archive in await chosen(context.conn, filters):
        async for record in file_format.records(context.stores.at(archive.store), archive):
            if sought is None or sought in record.line.decode().lower():
                yield record.line


async def days(conn: Conn, project: str | None) -> list[Retention]:
    """Return the retention of each kind of record."""
    return await archives_store.retention(conn, project)


async def keep(conn: Conn, rule: Retention, *, by: str) -> Retention | None:
    """Set the retention of one kind, for `rule.project` or, with "all", the default.

    Returns the retention before. Raises InvalidField for invalid days.
    """
    return await archives_store.change_retention(conn, rule, by=by)


async def reset(conn: Conn, kind: str, *, project: str, by: str) -> bool:
    """Remove a project's own retention of a kind; return False where it had none."""
    return await archives_store.reset_retention(conn, kind, project=project, by=by)
