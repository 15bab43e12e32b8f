"""Lists, searches, reads, counts and clears caught mail."""

from collections.abc import AsyncIterator

from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.trap import store
from mailqueue.trap.model import Neighbours, TrapMessage, TrapSummary

BATCH_MESSAGES = 200
LARGEST_ID = 2**63 - 1


async def page(
    conn: Conn, *, limit: int, search: str = "", before: int | None = None, after: int | None = None
) -> list[TrapSummary]:
    """Return at most `limit` messages, newest first, with ids below `before` and above `after`."""
    return await store.list_page(conn, limit=limit, search=search, before=before, after=after)


async def read_all(
    conn: Conn, *, limit: int | None = None, search: str = ""
) -> AsyncIterator[TrapMessage]:
    """Yield whole messages, newest first, in batches; None yields all."""
    before: int | None = None
    left = limit
    while left is None or left > 0:
        wanted = BATCH_MESSAGES if left is None else min(left, BATCH_MESSAGES)
        found = await store.read_page(conn, limit=wanted, search=search, before=before)
        for message in found:
            yield message
        if len(found) < wanted:
            return
        before = found[-1].id
        left = None if left is None else left - len(found)


async def get(conn: Conn, message_id: int) -> TrapMessage:
    """Return one message.

    Raises:
        NotFound: it does not exist or was cleared.
    """
    found = await store.find(conn, message_id) if 0 < message_id <= LARGEST_ID else None
    if found is None:
        raise NotFound("trap message", message_id)
    return found


async def find_oldest(conn: Conn, *, search: str = "", after: int | None = None) -> int | None:
    """Return the id of the oldest message above `after` that matches the search; None: none."""
    return await store.find_oldest(conn, search=search, after=after)


async def remove(conn: Conn, message_id: int) -> None:
    """Delete one message.

    Raises:
        NotFound: it does not exist or was cleared.
    """
    if not 0 < message_id <= LARGEST_ID or not await store.remove(conn, message_id):
        raise NotFound("trap message", message_id)


async def neighbours(conn: Conn, message_id: int) -> Neighbours:
    """Return the messages next to one, newer and older."""
    return await store.neighbours(conn, message_id)


async def count(conn: Conn, *, search: str = "") -> int:
    """Return the number of messages that match the search."""
    return await store.count(conn, search=search)


async def clear(conn: Conn) -> int:
    """Delete every message and return their number."""
    return await store.clear(conn)
