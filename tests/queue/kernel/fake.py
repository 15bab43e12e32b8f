"""A handler whose rows behave as each test says, and rows for it."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from mailqueue.core.errors import InvalidField
from mailqueue.core.outcome import Done, Outcome
from mailqueue.db.fetch import Conn
from mailqueue.queue.handler import Handler
from tests import make

PATIENCE_SECONDS = 60


class ClaimedRow(NamedTuple):
    """A claimed row of inbound_events."""

    id: UUID
    claim_no: int


class FakeHandler(Handler[ClaimedRow, Any]):
    """Handles rows as each test says; rows wait until `go_on` is set."""

    row = ClaimedRow

    def __init__(self) -> None:
        self.begun = list[UUID]()
        self.ended = list[UUID]()
        self.go_on = asyncio.Event()
        self.go_on.set()
        self.rests = 0
        self.refused = set[UUID]()

    async def handle(self, row: ClaimedRow) -> Outcome | Any:
        self.begun.append(row.id)
        try:
            await self.go_on.wait()
        finally:
            self.ended.append(row.id)
        return "work"

    async def commit(self, conn: Conn, done: Sequence[tuple[ClaimedRow, Any]]) -> list[Outcome]:  # noqa: ARG002
        for row, _ in done:
            if row.id in self.refused:
                raise InvalidField("field", "of this row alone")
        return [Done() for _ in done]


async def add_rows(conn: Conn, count: int, *, crashes: int = 0) -> list[UUID]:
    """Make due rows; return their ids."""
    found = await make.rows(
        conn,
        "INSERT INTO mailqueue.inbound_events (provider, body, run_at, crashes)"
        " SELECT 'ses', '{}', now() - interval '1 min', %s FROM generate_series(1, %s)"
        " RETURNING id",
        crashes,
        count,
    )
    return [row[0] for row in found]


async def states(conn: Conn, condition: str = "true") -> dict[str, int]:
    """Return how many rows have each status."""
    query = f"SELECT status, count(*) FROM mailqueue.inbound_events WHERE {condition} GROUP BY 1"
    return dict(await make.rows(conn, query))


async def until(condition: Callable[[], object]) -> None:
    """Wait until a condition of this process holds."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def until_states(conn: Conn, wanted: dict[str, int]) -> None:
    """Wait until the rows have these states."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while await states(conn) != wanted:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
