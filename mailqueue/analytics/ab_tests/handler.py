"""The handler of queue `ab-tests`: evaluate a test once, then send the others their variant."""

from datetime import timedelta
from functools import partial
from typing import NamedTuple
from uuid import UUID

from mailqueue.analytics.ab_tests import store
from mailqueue.analytics.ab_tests.decision import decide
from mailqueue.analytics.ab_tests.significance import Observed
from mailqueue.core.crashpoints import reach
from mailqueue.core.errors import InvalidField, ProjectFull
from mailqueue.core.outcome import Again, Defer, Done, Failed, Outcome
from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.queue.handler import Handler
from mailqueue.settings.environment import DatabaseSettings

MAX_CHUNK = 500
"""Emails that are accepted in one transaction."""
MAX_CHUNKS = 40
"""Chunks after which a test lets others of the queue go first."""
SMALLER = 8
"""Divisor of the size of a chunk for which the project has no room."""
FULL_WAIT = timedelta(seconds=5)
"""Wait while the project or the installation accepts no more mail."""
EARLY_WAIT = timedelta(seconds=1)
"""Wait of a row that is claimed before the time of its evaluation."""


class ClaimedTest(NamedTuple):
    """A claimed row of ab_tests."""

    id: UUID
    claim_no: int
    project_id: UUID


class AbTestHandler(Handler[ClaimedTest, None]):
    """Evaluates tests; the answer and each chunk are committed by themselves."""

    row = ClaimedTest

    def __init__(self, database: DatabaseSettings, *, chunk: int = MAX_CHUNK) -> None:
        self._link = Link(database, "mailqueue/ab-tests")
        self._chunk = chunk

    async def handle(self, row: ClaimedTest) -> Outcome | None:
        size = self._chunk
        for _ in range(MAX_CHUNKS):
            try:
                state = await self._link.call(partial(_step, row=row, size=size))
            except InvalidField as exc:
                return Failed(str(exc))
            except ProjectFull as exc:
                if size == 1:
                    return Defer(str(exc), FULL_WAIT)
                size = max(1, size // SMALLER)  # there may be room for some
                continue
            reach("ab_test.advanced")
            match state:
                case "done":
                    return Done()
                case "cancelled":
                    return Done("cancelled")
                case "early":
                    return Again(EARLY_WAIT)
                case "lost":
                    break
        return Again(timedelta(0))

    async def close(self) -> None:
        await self._link.close()


async def _step(conn: Conn, *, row: ClaimedTest, size: int) -> str:
    """Evaluate a test that is due, or send the next chunk; return the state. Safe to repeat."""
    async with conn.transaction():
        taken = await store.take(conn, row.id, claim_no=row.claim_no)
        match taken.state:
            case "due":
                hits = taken.opened if taken.metric == "open_rate" else taken.clicked
                answer = decide(
                    [Observed(*one) for one in zip(taken.sent, hits, strict=True)],
                    alpha=taken.alpha,
                    min_sample=taken.min_sample,
                )
                await store.record(conn, row.id, claim_no=row.claim_no, taken=taken, answer=answer)
                return "more"
            case "decided" | "cancelled":
                return await store.advance(conn, row.id, claim_no=row.claim_no, limit=size)
            case state:
                return state
