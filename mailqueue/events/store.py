"""Events as rows; the only file here that runs SQL."""

import json
from collections.abc import Sequence
from typing import NamedTuple

from mailqueue.db.fetch import Conn, many
from mailqueue.events.model import Event, Result


class _Recorded(NamedTuple):
    n: int
    result: str


async def record_events(conn: Conn, events: Sequence[Event]) -> list[Result]:
    """Record events with everything that follows from them; give what became of each, in order.

    All of it commits with the caller's transaction.
    """
    if not events:
        return []
    told = json.dumps([event.as_json() for event in events])
    found = await many(conn, "record_events", {"events": told}, _Recorded)
    return [Result(one.result) for one in found]
