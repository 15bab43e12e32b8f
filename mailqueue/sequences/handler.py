"""The handler of queue `sequences`: do the next step of each enrollment that is due.

Everything is decided and written in the transaction that settles the row: the mail of a step, the
record of the step and when the next one is due are committed together.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from mailqueue.core.crashpoints import reach
from mailqueue.core.outcome import Again, Defer, Done, Outcome, Retry
from mailqueue.db.fetch import Conn
from mailqueue.queue.handler import Call, TransactionHandler
from mailqueue.sequences.store import enrollments as store
from mailqueue.sequences.store.enrollments import Advanced

UPKEEP_STATEMENTS = 50
"""Statements of each kind after which the upkeep lets steps go first."""
REFUSED_WAIT = timedelta(seconds=10)
"""Wait while no mail is accepted, or the contact is locked; counts no attempt."""
NOTHING = "the contact was removed"


class ClaimedEnrollment(NamedTuple):
    """A claimed row of sequence_enrollments."""

    id: UUID
    claim_no: int
    project_id: UUID


class SequenceHandler(TransactionHandler[ClaimedEnrollment, ClaimedEnrollment]):
    """Does steps, and ends enrollments whose contacts left."""

    row = ClaimedEnrollment

    def work(self, row: ClaimedEnrollment) -> ClaimedEnrollment:
        return row

    async def commit(
        self, conn: Conn, done: Sequence[tuple[ClaimedEnrollment, ClaimedEnrollment]]
    ) -> list[Outcome]:
        found = {one.id: one for one in await store.advance(conn, [row.id for row, _ in done])}
        reach("sequence.advanced")
        return [_outcome_of(found.get(row.id)) for row, _ in done]

    async def rest(self, call: Call) -> None:
        """Look again at enrollments that something happened to, and release what was paused."""
        for upkeep in (store.take_signals, store.release, store.renew_zones):
            for _ in range(UPKEEP_STATEMENTS):
                if await call(upkeep) < store.UPKEEP_ROWS:
                    break


def _outcome_of(one: Advanced | None) -> Outcome:
    match one:
        case None:
            return Done("left", NOTHING)
        case Advanced(outcome="again"):
            return Again(at=one.run_at, reason=one.reason)
        case Advanced(outcome="retry"):
            return Retry(one.reason or "")
        case Advanced(outcome="defer"):
            return Defer(one.reason, REFUSED_WAIT)
        case _:
            return Done(one.outcome, one.reason)
