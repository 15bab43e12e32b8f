"""After a restore from backup: hold mail that may have been sent since, before workers start.

Emails are sent from a restored database only after this.
"""

from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from mailqueue.contract.operations import BulkResult
from mailqueue.core.crashpoints import reach
from mailqueue.db.fetch import Conn
from mailqueue.operations.store import actions as actions_store

BATCH = 1000


async def count(conn: Conn, since: datetime) -> int:
    """Return the number of mails that would be held.

    Raises:
        InvalidField: `since` is not in the past.
        Conflict: a worker runs.
    """
    async with conn.transaction(force_rollback=True):
        trial = await actions_store.hold_restored(
            conn, since, is_trial=True, limit=BATCH, operation=None, after=None, by=""
        )
    return trial.held


async def accept(conn: Conn, *, by: str) -> BulkResult:
    """Send from this database without holding mail, as nothing was lost.

    Raises:
        Conflict: a worker runs.
    """
    return BulkResult(await actions_store.accept_restored(conn, by=by), 0)


async def hold(
    conn: Conn, since: datetime, *, by: str, advance: Callable[[int], None]
) -> BulkResult:
    """Hold the mails, each batch in its own transaction.

    Raises:
        InvalidField: `since` is not in the past.
        Conflict: a worker runs; batches before it started are held.
    """
    operation: int | None = None
    after: UUID | None = None
    total = 0
    while True:
        async with conn.transaction():
            batch = await actions_store.hold_restored(
                conn, since, is_trial=False, limit=BATCH, operation=operation, after=after, by=by
            )
        reach("restored.committed")
        operation, after = batch.operation, batch.next_after
        total += batch.held
        advance(batch.held)
        if after is None:
            assert operation is not None
            return BulkResult(operation, total)
