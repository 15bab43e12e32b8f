"""What people ask of the archive: what there is, whether it is whole, to have it back."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from mailqueue.core.errors import MailqueueError, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.maintenance.archive import file_format
from mailqueue.maintenance.archive.check import check
from mailqueue.maintenance.archive.restore import MAY_COME_BACK, restore
from mailqueue.maintenance.context import Desk
from mailqueue.maintenance.model import Archive, ArchiveFile, Retention, State
from mailqueue.maintenance.store import archives as archives_store
from mailqueue.maintenance.store.archives import EVERYBODY

__all__ = ["EVERYBODY"]
_HAVE_A_FILE = (State.WRITTEN, State.VERIFIED, State.ARCHIVED, State.RESTORED)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which files are meant: by id, else all that fit."""

    ids: tuple[int, ...] = ()
    project: str | None = None
    month: date | None = None
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class Looked:
    """What became of one file that was looked at; `fault` is None where it is whole."""

    id: int
    path: str
    records: int
    fault: str | None


@dataclass(frozen=True, slots=True)
class Restored:
    """A file whose records are back; `records` is how many were not there."""

    id: int
    path: str
    records: int


async def listed(conn: Conn, wanted: Wanted, *, with_purged: bool) -> list[ArchiveFile]:
    """List files as people look at them, oldest first."""
    found = await archives_store.files(
        conn,
        project=wanted.project,
        month=wanted.month,
        kind=wanted.kind,
        with_purged=with_purged,
    )
    return [each for each in found if not wanted.ids or each.id in wanted.ids]


async def chosen(
    conn: Conn, wanted: Wanted, *, states: Sequence[str] = _HAVE_A_FILE
) -> list[Archive]:
    """Return the files that are meant.

    Raises:
        NotFound: one that is named is not there, or in no such state.
    """
    found = await archives_store.in_states(
        conn, states, project=wanted.project, month=wanted.month, kind=wanted.kind
    )
    if not wanted.ids:
        return found
    by_id = {each.id: each for each in found}
    for archive_id in wanted.ids:
        if archive_id not in by_id:
            raise NotFound("archive that could be used", archive_id)
    return [by_id[archive_id] for archive_id in wanted.ids]


async def verify(desk: Desk, wanted: Wanted) -> AsyncIterator[Looked]:
    """Read files back, each to its last byte, and yield what each is."""
    for archive in await chosen(desk.conn, wanted):
        fault = None
        try:
            await check(desk.stores.at(archive.store), archive)
            await archives_store.verified(desk.conn, archive.id)
        except MailqueueError as exc:
            fault = str(exc)
        desk.advance(archive.records or 0)
        yield Looked(archive.id, archive.path, archive.records or 0, fault)


async def bring_back(desk: Desk, wanted: Wanted, *, keep: timedelta) -> AsyncIterator[Restored]:
    """Restore files one by one. The caller has the archive's lock."""
    for archive in await chosen(desk.conn, wanted, states=MAY_COME_BACK):
        count = await restore(desk, archive, keep=keep)
        yield Restored(archive.id, archive.path, count)


async def read(desk: Desk, wanted: Wanted, *, having: str | None) -> AsyncIterator[bytes]:
    """Yield the records of files as lines of JSON, those that have a text in them or all."""
    sought = having.lower() if having is not None else None
    for archive in await chosen(desk.conn, wanted):
        async for record in file_format.records(desk.stores.at(archive.store), archive):
            if sought is None or sought in record.line.decode().lower():
                yield record.line


async def days(conn: Conn, project: str | None) -> list[Retention]:
    """List how long everything is kept."""
    return await archives_store.retention(conn, project)


async def keep(conn: Conn, rule: Retention, *, by: str) -> Retention | None:
    """Set how long one kind is kept, for `rule.project` or, where it is "all", for the others.

    Gives what held before. Raises InvalidField for days that cannot be.
    """
    return await archives_store.change_retention(conn, rule, by=by)


async def reset(conn: Conn, kind: str, *, project: str, by: str) -> bool:
    """Let what holds for all hold for a project; False where it had no rule of its own."""
    return await archives_store.reset_retention(conn, kind, project=project, by=by)
