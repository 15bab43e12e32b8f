"""Archive a month of a project's records, in steps.

After a kill at any point, the next run loses and duplicates nothing: a row is deleted in the
transaction that counts it as archived, and only after the whole file has been read back.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from mailqueue.core.crashpoints import reach
from mailqueue.maintenance.archive import file_format
from mailqueue.maintenance.archive.check import check
from mailqueue.maintenance.archive.file_format import Record
from mailqueue.maintenance.archive.rewrite import rewrite
from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.maintenance.model import Advance, Archive, ArchiveBroken, ArchiveState, Task
from mailqueue.maintenance.months import month_of
from mailqueue.maintenance.store import archives as archives_store
from mailqueue.maintenance.store import records as records_store
from mailqueue.ports.filestore import Store

BATCH = 2000
"""Records deleted in one transaction."""


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """Result of one file; without records there was nothing to write."""

    records: int
    bytes: int


async def carry_on(context: MaintenanceContext, archive: Archive) -> WrittenFile:
    """Continue a file from the step an earlier run reached.

    Raises:
        ArchiveBroken: the file is not what was written; rows in no intact file stay.
        Unavailable: its store is unavailable.
    """
    store = context.stores.at(archive.store)
    if archive.state == ArchiveState.WRITING:
        if not await _write(context, store, archive):
            return WrittenFile(0, 0)
        archive = await _again(context, archive)
    if archive.state == ArchiveState.RESTORED:
        await archives_store.end_restored(context.conn, archive.id)
    await _verify(context, store, archive)
    await _remove(context, store, await _again(context, archive))
    await _drop_what_went_elsewhere(context, await _again(context, archive))
    reach("archive.removed")
    await archives_store.archived(context.conn, archive.id)
    done = await _again(context, archive)
    return WrittenFile(done.records or 0, done.bytes or 0)


async def _write(context: MaintenanceContext, store: Store, archive: Archive) -> bool:
    """Write the file from the table; return False where the table has no such rows."""
    span = month_of(archive.month)
    with file_format.drafting(store) as path:
        async with records_store.reading(
            context.reader, archive.kind, project_id=archive.project_id, span=span
        ) as lines:
            draft = await file_format.write(path, archive, _records(lines, context.advance))
        reach("archive.drafted")
        if not draft.records:
            await store.delete(archive.path)  # written by an earlier run that found rows
            await archives_store.forget_empty(context.conn, archive.id)
            return False
        await context.call_with_retries(Task.ARCHIVE)
        await store.put(archive.path, path)
    reach("archive.put")
    await archives_store.written(context.conn, archive.id, draft, host=context.host)
    reach("archive.written")
    return True


async def _records(lines: AsyncIterator[str], advance: Advance) -> AsyncIterator[Record]:
    count = 0
    async for line in lines:
        yield Record(line.encode())
        count += 1
        if count % BATCH == 0:
            advance(BATCH)
    advance(count % BATCH)


async def _verify(context: MaintenanceContext, store: Store, archive: Archive) -> None:
    """Read the file back, right before rows are deleted because of it."""
    try:
        await check(store, archive)
    except ArchiveBroken:
        if archive.state == ArchiveState.WRITTEN:  # the table has all rows: written again next time
            await archives_store.unwritten(context.conn, archive.id)
        raise
    await archives_store.verified(context.conn, archive.id)
    reach("archive.verified")


async def _remove(context: MaintenanceContext, store: Store, archive: Archive) -> None:
    """Delete the file's rows from the table, from where an earlier run stopped."""
    place, batch = 0, list[Record]()
    async for record in file_format.records(store, archive):
        place += 1
        if place <= archive.removed:
            continue
        batch.append(record)
        if len(batch) == BATCH:
            await _remove_batch(context, archive, batch, last=place)
            batch = []
    if batch:
        await _remove_batch(context, archive, batch, last=place)


async def _remove_batch(
    context: MaintenanceContext, archive: Archive, batch: list[Record], *, last: int
) -> None:
    first = last - len(batch) + 1
    async with context.conn.transaction():
        await context.call_with_retries(Task.ARCHIVE)
        there = await records_store.remove(
            context.conn, archive.kind, batch, span=month_of(archive.month)
        )
        missing = [n for n in range(len(batch)) if n not in there]
        gone = await _gone_elsewhere(context, archive, batch, missing)
        await archives_store.removed(
            context.conn, archive.id, removed=last, gone_elsewhere=[first + n for n in gone]
        )
        reach("archive.removing")
    context.advance(len(batch))
    reach("archive.batch")


async def _gone_elsewhere(
    context: MaintenanceContext, archive: Archive, batch: list[Record], missing: list[int]
) -> list[int]:
    """Return those that were requeued or are in use again; rows deleted by others stay in the
    file.
    """
    if not missing:
        return []
    found = await records_store.elsewhere(context.conn, archive.kind, [batch[n] for n in missing])
    return [missing[place] for place in sorted(found)]


async def _drop_what_went_elsewhere(context: MaintenanceContext, archive: Archive) -> None:
    """Remove mail from the file that was requeued after it was written: it would exist twice."""
    gone = set(archive.gone_elsewhere)
    if gone:
        await rewrite(
            context, archive, lambda place, record: None if place in gone else record.line
        )


async def _again(context: MaintenanceContext, archive: Archive) -> Archive:
    found = await archives_store.find(context.conn, archive.id)
    if found is None:
        raise ArchiveBroken(f"{archive.name} was deleted from mailqueue.archives meanwhile")
    return found
