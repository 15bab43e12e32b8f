"""The handler of queue `operations`: change all queued mail of a project that matches a filter."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import NamedTuple
from uuid import UUID

from mailqueue.core.crashpoints import reach
from mailqueue.core.errors import InvalidField
from mailqueue.core.outcome import Again, Defer, Done, Failed, Outcome
from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.operations.store import background as store
from mailqueue.queue.handler import Handler
from mailqueue.settings.environment import DatabaseSettings

MAX_SEARCHED = 5_000
"""Queued mails that are searched in one transaction."""
MAX_CHANGED = 1_000
"""Mails that are changed in one transaction."""
MAX_BATCHES = 50
"""Batches after which an operation lets others of the queue go first."""
BEHIND_WAIT = timedelta(seconds=2)
"""Wait while an earlier operation of the project is not finished."""
PASS_WAIT = timedelta(seconds=2)
"""Wait before a third and any further pass: other transactions have locked matching mail."""
BEHIND = "an earlier operation of the project is not finished"


class ClaimedOperation(NamedTuple):
    """A claimed row of bulk_operations."""

    id: UUID
    claim_no: int


@dataclass(frozen=True, slots=True)
class OperationEnd:
    """The end of an operation: done, stopped or failed."""

    state: str
    error: str | None = None


class OperationHandler(Handler[ClaimedOperation, OperationEnd]):
    """Carries out operations; each batch is committed with its progress."""

    row = ClaimedOperation

    def __init__(self, database: DatabaseSettings) -> None:
        self._link = Link(database, "mailqueue/operations")

    async def handle(self, row: ClaimedOperation) -> Outcome | OperationEnd:
        step = partial(
            store.step,
            operation_id=row.id,
            claim_no=row.claim_no,
            searched=MAX_SEARCHED,
            changed=MAX_CHANGED,
        )
        for _ in range(MAX_BATCHES):
            try:
                state = await self._link.call(step)
            except InvalidField as exc:
                return OperationEnd("failed", str(exc))
            reach("operation.advanced")
            if state == "behind":
                return Defer(BEHIND, BEHIND_WAIT)
            if state == "again":
                return Again(PASS_WAIT)
            if state == "lost":
                break
            if state != "more":
                return OperationEnd(state)
        return Again(timedelta(0))

    async def commit(
        self, conn: Conn, done: Sequence[tuple[ClaimedOperation, OperationEnd]]
    ) -> list[Outcome]:
        for row, end in done:
            await store.end(conn, row.id, state=end.state, error=end.error)
        return [_outcome_of(end) for _, end in done]

    async def close(self) -> None:
        await self._link.close()


def _outcome_of(end: OperationEnd) -> Outcome:
    if end.state == "failed":
        return Failed(end.error or "failed")
    return Done(None if end.state == "done" else end.state)
