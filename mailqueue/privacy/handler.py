"""The handler of queue `erasures`: finish an erasure that the API or a command began."""

from datetime import timedelta
from typing import NamedTuple, Never
from uuid import UUID

from mailqueue.core.errors import MailqueueError
from mailqueue.core.outcome import Defer, Done, Outcome
from mailqueue.maintenance.context import OpenContext
from mailqueue.privacy import erasing
from mailqueue.privacy.persons import lending
from mailqueue.queue.handler import Handler

BY = "mailqueue"
"""Actor in the audit."""
BUSY_WAIT = timedelta(seconds=10)
"""Wait while another process erases, or a worker holds mail of the person."""
BLOCKED_WAIT = timedelta(minutes=5)
"""Wait after a step that cannot be done here and now: rights, keys or files are missing."""


class ClaimedErasure(NamedTuple):
    """A claimed row of erasures."""

    id: UUID
    claim_no: int
    stage: str


class ErasureHandler(Handler[ClaimedErasure, Never]):
    """Continues erasures until they are complete."""

    row = ClaimedErasure

    def __init__(self, open_context: OpenContext) -> None:
        self._open_context = open_context

    async def handle(self, row: ClaimedErasure) -> Outcome:
        try:
            async with self._open_context() as context:
                found = await erasing.go_on(
                    lending(context.conn), row.id, context=context, by=BY, joins=False
                )
        except MailqueueError as exc:
            return Defer(str(exc), BLOCKED_WAIT)
        if found.is_done:
            return Done()
        if found.is_elsewhere:
            return Defer("another process erases", BUSY_WAIT)
        if found.waiting:
            return Defer(f"workers hold {found.waiting} mails to the person", BUSY_WAIT)
        return Defer(found.needs or "there is more to do", BLOCKED_WAIT)
