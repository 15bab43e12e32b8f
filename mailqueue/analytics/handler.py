"""The handler of queue `stats`: count what was written since, and move the cursor with it."""

import asyncio
from datetime import timedelta
from functools import partial
from typing import NamedTuple
from uuid import UUID

from mailqueue.analytics import store
from mailqueue.core.crashpoints import reach
from mailqueue.core.outcome import Again, Outcome
from mailqueue.db.link import Link
from mailqueue.queue.handler import Handler
from mailqueue.settings.environment import DatabaseSettings

BATCH_ROWS = 10_000
"""Emails and events that are counted in about one transaction."""
MAX_BATCHES = 200
"""Transactions after which the row is settled, so that others see how far it is."""
WRITERS_WAIT = timedelta(milliseconds=100)
"""Wait while a transaction is open that may commit what was written before the horizon."""
BUSY_WAIT = timedelta(seconds=1)
"""Wait after something was counted: many rows of one second share a transaction."""
IDLE_WAIT = timedelta(seconds=3)
"""Wait after nothing was found."""
JUDGE_SECONDS = 3600.0
"""Time between two looks at the domains of recipients."""
_WAIT_BY_STATE = {
    "waiting": WRITERS_WAIT,
    "more": timedelta(0),
    "cleared": timedelta(0),
    "done": BUSY_WAIT,
    "idle": IDLE_WAIT,
    "lost": BUSY_WAIT,
}


class ClaimedStats(NamedTuple):
    """The claimed row of stats_state."""

    id: UUID
    claim_no: int


class StatsHandler(Handler[ClaimedStats, None]):
    """Counts; each batch is committed with the cursor, so that a kill counts nothing twice."""

    row = ClaimedStats

    def __init__(self, database: DatabaseSettings, *, batch_rows: int = BATCH_ROWS) -> None:
        self._link = Link(database, "mailqueue/stats")
        self._batch_rows = batch_rows
        self._judge_at = 0.0

    async def handle(self, row: ClaimedStats) -> Outcome:
        fold = partial(
            store.fold, state_id=row.id, claim_no=row.claim_no, batch_rows=self._batch_rows
        )
        state = "more"
        for _ in range(MAX_BATCHES):
            state = await self._link.call(fold)
            reach("stats.folded")
            if state not in ("more", "cleared"):
                break
        clock = asyncio.get_running_loop().time()
        if state in ("done", "idle") and clock >= self._judge_at:
            self._judge_at = clock + JUDGE_SECONDS
            await self._link.call(store.judge_domains)
        return Again(_WAIT_BY_STATE[state])

    async def close(self) -> None:
        await self._link.close()
