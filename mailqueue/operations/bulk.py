"""One operation on all matching mail, in batches with short locks."""

from collections.abc import Callable
from uuid import UUID

from mailqueue.contract.operations import BulkResult
from mailqueue.core.crashpoints import reach
from mailqueue.db.fetch import Conn
from mailqueue.operations.model import BulkOperation
from mailqueue.operations.store import actions as actions_store

BATCH = 1000
"""Mails in one transaction."""
MAX_WALKS = 5
"""Most passes over the mail: rows locked by workers are skipped, and found by a later pass."""

OnBatch = Callable[[int], None]
"""Called with the number of mails after each batch."""


async def count(conn: Conn, order: BulkOperation) -> int:
    """Return the number of matching mails.

    Raises:
        InvalidField: a part of the order is invalid.
    """
    return await actions_store.count_matching(
        conn, order.verb, where=order.where, argument=order.argument
    )


async def carry_out(conn: Conn, order: BulkOperation, *, by: str, advance: OnBatch) -> BulkResult:
    """Carry out an order, each batch in its own transaction; `advance` is called with each batch's
    size.
    """
    operation = await actions_store.begin(
        conn, order.verb, where=order.where, argument=order.argument, by=by
    )
    reach("operation.begun")
    # Resent mail still matches: a second pass would send it twice.
    walks = 1 if order.verb == "resend" else MAX_WALKS
    return BulkResult(operation, await go_on(conn, operation, walks=walks, advance=advance))


async def go_on(conn: Conn, operation: int, *, walks: int, advance: OnBatch) -> int:
    """Repeat passes over the matching mail until one finds nothing; return the number of mails."""
    total = 0
    for _ in range(walks):
        done = await _walk(conn, operation, advance)
        total += done
        if not done:
            break
    return total


async def _walk(conn: Conn, operation: int, advance: OnBatch) -> int:
    total, after = 0, UUID(int=0)
    while True:
        async with conn.transaction():
            batch = await actions_store.go_on(conn, operation, after=after, limit=BATCH)
        reach("operation.committed")
        total += batch.done
        advance(batch.done)
        if batch.next_after is None:
            return total
        after = batch.next_after
