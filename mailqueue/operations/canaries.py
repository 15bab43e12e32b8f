"""Canaries: small emails by a sender account at an interval, whose absence is noticed.

Each is a row of the queue `canaries`; its email is written in the transaction that settles the row.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from mailqueue.contract.infrastructure import Canary
from mailqueue.core.errors import NotFound
from mailqueue.core.outcome import Again, Defer, Outcome
from mailqueue.core.storable_text import unstorable
from mailqueue.db.fetch import Conn
from mailqueue.operations.store import canaries as store
from mailqueue.queue.handler import TransactionHandler
from mailqueue.settings.environment import Settings


class ClaimedCanary(NamedTuple):
    """A claimed row of canaries."""

    id: UUID
    claim_no: int


class CanaryHandler(TransactionHandler[ClaimedCanary, None]):
    """Queues the email of each canary that is due."""

    row = ClaimedCanary

    def work(self, row: ClaimedCanary) -> None:  # noqa: ARG002
        return None

    async def commit(
        self, conn: Conn, done: Sequence[tuple[ClaimedCanary, None]]
    ) -> Sequence[Outcome]:
        sent = await store.send(conn, [row.id for row, _ in done])
        return [_outcome(sent.get(row.id)) for row, _ in done]


def canary_handler(settings: Settings) -> CanaryHandler:  # noqa: ARG001
    """Return the handler of queue `canaries`."""
    return CanaryHandler()


async def put(
    conn: Conn, project: str, sender: str, *, recipient: str, every: timedelta, by: str
) -> Canary:
    """Send an email by a sender account at an interval, or change that.

    Raises:
        InvalidField: a field is invalid.
    """
    for field, text in (("project", project), ("sender", sender), ("recipient", recipient)):
        if (fault := unstorable(field, text)) is not None:
            raise fault
    await store.put(conn, project, sender, recipient=recipient, every=every, by=by)
    return next(
        one for one in await store.list_all(conn) if (one.project, one.sender) == (project, sender)
    )


async def remove(conn: Conn, project: str, sender: str, *, by: str) -> None:
    """Send no more by a sender account.

    Raises:
        NotFound: none were sent.
        InvalidField: there is no such project.
    """
    if not await store.remove(conn, project, sender, by=by):
        raise NotFound("canary", sender[:100])


async def list_all(conn: Conn) -> list[Canary]:
    """Return the canaries, by project and sender account."""
    return await store.list_all(conn)


def _outcome(sent: store.SentCanary | None) -> Outcome:
    if sent is None:  # the canary was removed, which settling finds
        return Defer()
    return Again(at=sent.next_at, reason=sent.reason)
