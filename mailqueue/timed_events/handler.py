"""The handler of queue `timed-events`: enqueue the mail or the webhook call of what is due.

Both are rows, written in the transaction that settles the event: each event fires once, whatever
dies. Calls are then delivered by the queue `webhooks`, which ends their events.
"""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from mailqueue.core.outcome import Defer, Done, Outcome, Retry
from mailqueue.db.fetch import Conn
from mailqueue.queue.handler import Call, TransactionHandler
from mailqueue.settings.environment import Settings
from mailqueue.timed_events import store
from mailqueue.timed_events.model import ClaimedEvent, DueEvent, FiredEvent

ROOM_WAIT = timedelta(minutes=1)
"""Wait while the project, or the installation, has no room for more mail."""
PLANNED_CONTACTS = 500
"""Contacts whose birthdays are planned in one transaction."""
RECOMPUTED_EVENTS = 2_000
"""Events that are computed by a new release of the zone rules in one transaction."""
DELIVERED_EVENTS = 1_000
"""Events whose deliveries are examined in one transaction."""


class TimedEventHandler(TransactionHandler[ClaimedEvent, DueEvent]):
    """Fires timed events; plans birthdays and follows new zone rules while it rests."""

    row = ClaimedEvent

    def work(self, row: ClaimedEvent) -> Outcome | DueEvent:  # noqa: ARG002
        return DueEvent()

    async def commit(
        self, conn: Conn, done: Sequence[tuple[ClaimedEvent, DueEvent]]
    ) -> Sequence[Outcome]:
        fired = {one.id: one for one in await store.fire(conn, [row for row, _ in done])}
        return [_outcome_of(fired.get(row.id)) for row, _ in done]

    async def rest(self, call: Call) -> None:
        while await call(lambda conn: store.plan_birthdays(conn, limit=PLANNED_CONTACTS)):
            pass
        while await call(lambda conn: store.recompute(conn, limit=RECOMPUTED_EVENTS)):
            pass
        last: UUID | None = None
        while True:
            after = last
            last = await call(
                lambda conn, after=after: store.end_delivered(  # type: ignore[misc]
                    conn, after=after, limit=DELIVERED_EVENTS
                )
            )
            if last is None:
                break


def timed_event_handler(settings: Settings) -> TimedEventHandler:  # noqa: ARG001
    """Return the handler of queue `timed-events`."""
    return TimedEventHandler()


def _outcome_of(fired: FiredEvent | None) -> Outcome:
    if fired is None:  # the claim is lost, which settling finds
        return Defer()
    match fired.outcome:
        case "done":
            values = {"email_id": fired.email_id, "delivery_id": fired.delivery_id}
            return Done(
                fired.status,
                fired.reason,
                {name: str(value) for name, value in values.items() if value is not None},
            )
        case "defer":
            return Defer(fired.reason, ROOM_WAIT)
        case _:
            return Retry(fired.reason or "it was refused")
