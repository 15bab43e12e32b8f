"""The task `retention`: delete records past their retention that are not archived."""

from collections.abc import Awaitable, Callable
from functools import partial

from mailqueue.core.crashpoints import reach
from mailqueue.core.retained import RETAINED
from mailqueue.core.retention import Removal
from mailqueue.db.fetch import Conn
from mailqueue.maintenance import attachments
from mailqueue.maintenance.archive.due import DueRecords, leaving
from mailqueue.maintenance.archive.file_format import Record
from mailqueue.maintenance.archive.write_month import BATCH
from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.maintenance.model import TaskReport
from mailqueue.maintenance.months import month_of
from mailqueue.maintenance.store import files as files_store
from mailqueue.maintenance.store import records as records_store
from mailqueue.maintenance.store import tasks as tasks_store

SWEPT = tuple(one for one in RETAINED if one.leaves is Removal.SWEPT)
"""Kinds of records that are deleted in batches, by a time column."""

_PAGES = 2000
"""Pages of a table searched in one transaction."""


async def run(context: MaintenanceContext) -> TaskReport:
    """Delete in batches, each in a transaction of its own."""
    counts = {"records": 0}
    async for each in leaving(context.conn):
        if each.due.is_deleted:
            counts["records"] += await _delete(context, each)
    counts["idempotency_keys"] = await _idempotency_keys(context)
    counts["answers"] = await tasks_store.sweep_answers(context.conn)
    counts["request_buckets"] = await tasks_store.sweep_request_buckets(context.conn)
    for one in SWEPT:
        counts[one.kind] = await _in_batches(context, partial(tasks_store.sweep_retained, one=one))
    counts["webhook_deliveries"] = await _webhooks(context)
    counts["waiters"] = await tasks_store.sweep_waiters(context.conn)
    counts["accepted_days"] = await tasks_store.sweep_balanced_days(context.conn)
    counts["batches"] = await files_store.sweep_batches(context.conn)
    counts["custom_smtp_servers"] = await files_store.sweep_custom_smtp_servers(context.conn)
    counts["tracked_links"] = await _in_batches(context, files_store.sweep_tracked_links)
    needs = list[str]()
    counts |= await attachments.sweep(context, needs=needs)
    deleted = [
        f"{count} {name.replace('_', ' ')}"
        for name, count in counts.items()
        if count and name != attachments.MOVED
    ]
    said = f"deleted {', '.join(deleted) or 'nothing'}"
    if moved := counts[attachments.MOVED]:
        said += f", moved {moved} attachments out of the database"
    return TaskReport(said, counts, tuple(needs))


async def _delete(context: MaintenanceContext, each: DueRecords) -> int:
    """Delete the records of a kind, month and project; return their number."""
    span, count, batch = month_of(each.month), 0, list[Record]()

    async def delete() -> int:
        async with context.conn.transaction():
            gone = await records_store.remove(context.conn, each.kind, batch, span=span)
        reach("retention.batch")
        context.advance(len(gone))
        return len(gone)

    reading = records_store.reading(
        context.reader, each.kind, project_id=each.due.project_id, span=span
    )
    async with reading as lines:
        async for line in lines:
            batch.append(Record(line.encode()))
            if len(batch) == BATCH:
                count += await delete()
                batch.clear()
    return count + (await delete() if batch else 0)


async def _idempotency_keys(context: MaintenanceContext) -> int:
    """Delete old idempotency keys, page by page: they have no index by age."""
    pages, count = await tasks_store.count_pages(context.conn, "idempotency_keys"), 0
    for first in range(0, pages, _PAGES):
        count += await tasks_store.sweep_idempotency_keys(
            context.conn, from_page=first, until_page=first + _PAGES
        )
    return count


async def _in_batches(context: MaintenanceContext, sweep: Callable[[Conn], Awaitable[int]]) -> int:
    count = 0
    while batch := await sweep(context.conn):
        count += batch
    return count


async def _webhooks(context: MaintenanceContext) -> int:
    """Delete old deliveries, oldest first, then their events."""
    after, count = None, 0
    while True:
        found = await tasks_store.sweep_webhooks(context.conn, after=after)
        count += found.swept
        reach("retention.batch")
        if found.last is None:
            break
        after = found.last
    while await tasks_store.sweep_webhook_events(context.conn):
        pass
    return count
