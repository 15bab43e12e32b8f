"""Handles the queue `list-sends`: makes the mail of a list, chunk by chunk."""

from datetime import timedelta
from functools import partial
from typing import NamedTuple
from uuid import UUID

from mailqueue.contacts.sends import store
from mailqueue.core.crashpoints import reach
from mailqueue.core.errors import Conflict, InvalidField, ProjectFull
from mailqueue.core.outcome import Again, Defer, Done, Failed, Outcome
from mailqueue.db.link import Link
from mailqueue.queue.handler import Handler
from mailqueue.settings.environment import DatabaseSettings

MAX_CHUNK = 500
"""Mails that are accepted in one transaction."""
MAX_CHUNKS = 40
"""Chunks after which a send lets others of the queue go first."""
SMALLER = 8
"""Divisor of the size of a chunk for which the project has no room."""
FULL_WAIT = timedelta(seconds=5)
"""Wait while the project or the installation accepts no more mail."""
BUSY_WAIT = timedelta(seconds=3)
"""Wait while a transaction of others holds a contact; sends of others go on."""


class ClaimedSend(NamedTuple):
    """A claimed row of list_sends."""

    id: UUID
    claim_no: int


class ListSendHandler(Handler[ClaimedSend, None]):
    """Makes mail of lists; each chunk is committed with what it has done."""

    row = ClaimedSend

    def __init__(self, database: DatabaseSettings) -> None:
        self._link = Link(database, "mailqueue/list-sends")

    async def handle(self, row: ClaimedSend) -> Outcome | None:
        size = MAX_CHUNK
        for _ in range(MAX_CHUNKS):
            step = partial(store.advance, send_id=row.id, claim_no=row.claim_no, limit=size)
            try:
                state = await self._link.call(step)
            except InvalidField as exc:
                return Failed(str(exc))
            except Conflict as exc:
                return Defer(str(exc), BUSY_WAIT)
            except ProjectFull as exc:
                if size == 1:
                    return Defer(str(exc), FULL_WAIT)
                size = max(1, size // SMALLER)  # there may be room for some
                continue
            reach("list_send.advanced")
            match state:
                case "done":
                    return Done()
                case "stopped":
                    return Done("stopped")
                case "gone":
                    return Failed("the list was removed before its contacts were read")
                case "lost":
                    break
        return Again(timedelta(0))

    async def close(self) -> None:
        await self._link.close()
