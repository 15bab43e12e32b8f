"""SQL of the stream of events and its consumers."""

from datetime import datetime

from mailqueue.contract.automation.consumers import ConsumerState
from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.refusals import refusals
from mailqueue.db.statements import stream as sql
from mailqueue.stream.model import ReplayCount


async def list_consumers(conn: Conn) -> list[ConsumerState]:
    """Return the consumers by name, and how far each is behind."""
    return await fetch.many(conn, sql.LIST_CONSUMERS, {}, ConsumerState)


async def replay(conn: Conn, name: str, since: datetime, *, is_dry: bool, by: str) -> ReplayCount:
    """Have a consumer handle again what was written since a time; return what that is.

    Raises:
        InvalidField: there is no such consumer.
    """
    values = {"name": name, "since": since, "is_dry": is_dry, "by": by}
    with refusals(otherwise="since"):
        async with conn.transaction():
            return await fetch.one(conn, sql.REPLAY_CONSUMER, values, ReplayCount)
