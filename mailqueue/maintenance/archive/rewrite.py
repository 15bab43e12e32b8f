"""Rewrite an archive file with records changed or left out, as erasing a person needs."""

from collections.abc import AsyncIterator, Callable

from mailqueue.core.crashpoints import reach
from mailqueue.maintenance.archive import file_format
from mailqueue.maintenance.archive.check import check
from mailqueue.maintenance.archive.file_format import FileDraft, Record
from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.maintenance.model import Archive, ArchiveBroken, Task
from mailqueue.maintenance.store import archives as archives_store
from mailqueue.maintenance.store.archives import FileLocation
from mailqueue.ports.filestore import Store

RewriteLine = Callable[[int, Record], bytes | None]
"""Returns the new line of a record, or None to leave it out; record numbers count from 1."""

_SUFFIX = ".jsonl.gz"


async def rewrite(context: MaintenanceContext, archive: Archive, change: RewriteLine) -> int:
    """Replace a complete file by a changed one; return the number of changed records.

    The old file is deleted after the new one was read back and the manifest names it. After a kill,
    the next run finishes the work. The caller holds the archive's lock.

    Raises:
        ArchiveBroken: the old file is damaged, or the new one is not what was written.
        Unavailable: a store is unavailable.
    """
    await delete_leftovers(context)
    store = context.stores.at(archive.store)
    await check(store, archive)
    kept = _KeptRecords(archive, change)
    with file_format.drafting(store) as path:
        draft = await file_format.write(
            path, archive, kept.records(file_format.records(store, archive))
        )
        if not kept.changed:
            return 0
        place = FileLocation(archive.store, next_path(archive), archive.tier, archive.revision + 1)
        await _put(context, archive, draft, store=store, place=place, kept=kept)
    return kept.changed


async def move(context: MaintenanceContext, archive: Archive, *, store: Store, tier: str) -> None:
    """Move a file to another store; the old one is deleted after the new one was read back.

    Raises:
        ArchiveBroken, Unavailable: as for rewrite.
    """
    old = context.stores.at(archive.store)
    await check(old, archive)
    kept = _KeptRecords(archive, lambda _, record: record.line)
    path_there = f"{tier}/{next_path(archive).partition('/')[2]}"
    with file_format.drafting(store) as path:
        draft = await file_format.write(
            path, archive, kept.records(file_format.records(old, archive))
        )
        place = FileLocation(store.url, path_there, tier, archive.revision + 1)
        await _put(context, archive, draft, store=store, place=place, kept=kept)


async def delete_leftovers(context: MaintenanceContext) -> int:
    """Delete replaced files; return their number."""
    found = await archives_store.leftovers(context.conn)
    for leftover in found:
        await context.stores.at(leftover.store).delete(leftover.path)
        reach("archive.deleted")
        await archives_store.forget_leftover(context.conn, leftover)
    return len(found)


def next_path(archive: Archive) -> str:
    """Return the path of the file that will replace this one. Pure."""
    stem = archive.path.removesuffix(_SUFFIX).removesuffix(f".r{archive.revision}")
    return f"{stem}.r{archive.revision + 1}{_SUFFIX}"


class _KeptRecords:
    """Records for the new file, with the positions of those whose rows were archived."""

    def __init__(self, archive: Archive, change: RewriteLine) -> None:
        self._archive = archive
        self._change = change
        self._gone = set(archive.gone_elsewhere)
        self.changed = 0
        self.removed = 0
        self.gone_elsewhere: list[int] = []

    async def records(self, old: AsyncIterator[Record]) -> AsyncIterator[Record]:
        place, new_place = 0, 0
        async for record in old:
            place += 1
            line = self._change(place, record)
            self.changed += line != record.line
            if line is None:
                continue
            new_place += 1
            self.removed += place <= self._archive.removed
            if place in self._gone:
                self.gone_elsewhere.append(new_place)
            yield record if line == record.line else Record(line)


async def _put(
    context: MaintenanceContext,
    archive: Archive,
    draft: FileDraft,
    *,
    store: Store,
    place: FileLocation,
    kept: _KeptRecords,
) -> None:
    await context.call_with_retries(Task.ARCHIVE)
    await store.put(place.path, draft.path)
    reach("archive.replaced")
    await _check_new(store, archive, draft, place)
    if not await archives_store.replace(
        context.conn,
        archive,
        place,
        draft=draft,
        removed=kept.removed,
        gone_elsewhere=kept.gone_elsewhere,
    ):
        raise ArchiveBroken(f"{archive.name} was replaced meanwhile: run it again")
    reach("archive.swapped")
    await delete_leftovers(context)


async def _check_new(store: Store, archive: Archive, draft: FileDraft, place: FileLocation) -> None:
    measured = await file_format.read_back_at(store, place.path, archive)
    if (measured.records, measured.bytes, measured.sha256) != (
        draft.records,
        draft.bytes,
        draft.sha256,
    ):
        raise ArchiveBroken(f"{place.path} in {store.url} is not what was written: run it again")
