"""Consumers for people: how far each has read, and handling events again."""

from datetime import datetime

from mailqueue.contract.automation.consumers import ConsumerReplay, ConsumerState
from mailqueue.db.fetch import Conn
from mailqueue.stream import store


async def list_all(conn: Conn) -> list[ConsumerState]:
    """Return the consumers by name, and how far each is behind."""
    return await store.list_consumers(conn)


async def replay(
    conn: Conn, name: str, since: datetime, *, is_dry: bool, by: str
) -> ConsumerReplay:
    """Have a consumer handle again what was written since a time, or only count it.

    Raises:
        InvalidField: there is no such consumer.
    """
    found = await store.replay(conn, name, since, is_dry=is_dry, by=by)
    return ConsumerReplay(
        consumer=name,
        since=since,
        events=found.events,
        first_at=found.first_at,
        is_dry_run=is_dry,
    )
