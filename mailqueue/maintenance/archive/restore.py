"""Restore archived records into their tables for a time."""

from datetime import timedelta

from mailqueue.core.crashpoints import reach
from mailqueue.core.errors import Conflict
from mailqueue.maintenance.archive import file_format
from mailqueue.maintenance.archive.check import check
from mailqueue.maintenance.archive.file_format import Record
from mailqueue.maintenance.archive.write_month import BATCH
from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.maintenance.model import Archive, ArchiveState
from mailqueue.maintenance.partitions import finish_detaching
from mailqueue.maintenance.store import archives as archives_store
from mailqueue.maintenance.store import records as records_store
from mailqueue.maintenance.store import tasks as tasks_store

MAY_COME_BACK = (ArchiveState.ARCHIVED, ArchiveState.RESTORED)


async def restore(context: MaintenanceContext, archive: Archive, *, keep: timedelta) -> int:
    """Insert all records of a file for the time `keep`; return how many rows were missing.

    All or nothing, in one transaction. The file stays: afterwards the records are archived again.

    Raises:
        Conflict: the file is being archived, or purged.
        ArchiveBroken: it differs from the manifest; the table is unchanged.
    """
    if archive.state not in MAY_COME_BACK:
        raise Conflict(f"{archive.name} is {archive.state}: only archived files can be restored")
    source = context.stores.at(archive.store)
    await check(source, archive)
    # A partition that is being detached is attached again; a missing one is created.
    await finish_detaching(context.conn)
    await tasks_store.make_partitions_of(context.conn, archive.month)
    reach("archive.restoring")
    count, batch = 0, list[Record]()
    async with context.conn.transaction():
        async for record in file_format.records(source, archive):
            batch.append(record)
            if len(batch) == BATCH:
                count += await records_store.restore(context.conn, archive, batch)
                context.advance(len(batch))
                batch = []
        count += await records_store.restore(context.conn, archive, batch)
        await archives_store.restored(context.conn, archive.id, keep=keep)
    context.advance(len(batch))
    reach("archive.restored")
    return count
