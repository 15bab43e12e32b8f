"""One operation on all mail that matches, in batches that hold no lock for long."""

from collections.abc import Callable
from uuid import UUID

from mailqueue.core.crashpoints import reach
from mailqueue.db.fetch import Conn
from mailqueue.operations.model import Done, Order
from mailqueue.operations.store import actions as actions_store

BATCH = 1000
"""Mails one transaction takes."""
MAX_WALKS = 5
"""Rows that workers hold at the moment are passed over; a later walk finds them."""

Advance = Callable[[int], None]


async def count(conn: Conn, order: Order) -> int:
    """Count the mails it would be done to.

    Raises:
        InvalidField: the part of the order that cannot be meant.
    """
    return await actions_store.count_matching(
        conn, order.verb, where=order.where, argument=order.argument
    )


async def carry_out(conn: Conn, order: Order, *, by: str, advance: Advance) -> Done:
    """Do it, each batch in its own transaction; `advance` hears of each batch's size."""
    operation = await actions_store.begin(
        conn, order.verb, where=order.where, argument=order.argument, by=by
    )
    reach("operation.begun")
    # Resent mail still matches: a second walk would send it twice.
    walks = 1 if order.verb == "resend" else MAX_WALKS
    return Done(operation, await go_on(conn, operation, walks=walks, advance=advance))


async def go_on(conn: Conn, operation: int, *, walks: int, advance: Advance) -> int:
    """Walk over what matches until a walk finds nothing more; return the number of mails."""
    total = 0
    for _ in range(walks):
        done = await _walk(conn, operation, advance)
        total += done
        if not done:
            break
    return total


async def _walk(conn: Conn, operation: int, advance: Advance) -> int:
    total, after = 0, UUID(int=0)
    while True:
        async with conn.transaction():
            batch = await actions_store.go_on(conn, operation, after=after, most=BATCH)
        reach("operation.committed")
        total += batch.done
        advance(batch.done)
        if batch.next_after is None:
            return total
        after = batch.next_after
