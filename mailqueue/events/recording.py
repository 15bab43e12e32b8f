"""Records what happens to mail, for all who hear of it."""

from collections.abc import Sequence

from mailqueue.db.fetch import Conn
from mailqueue.events import store
from mailqueue.events.model import Event, Result


async def record(conn: Conn, events: Sequence[Event]) -> list[Result]:
    """Record events with everything that follows from them; return what became of each, in order.

    All of it commits with the caller's transaction.
    """
    return await store.record_events(conn, events)
