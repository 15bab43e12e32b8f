"""Handles messages in their order: each becomes an event of the inbox, once."""

from collections.abc import Sequence

from mailqueue.bridge import store
from mailqueue.bridge.envelope import UnreadableMessage, read_event
from mailqueue.bridge.model import (
    ConsumedEvent,
    Dead,
    HeldBack,
    IncomingEvent,
    MessageOutcome,
    QueueBinding,
)
from mailqueue.bridge.store import ConsumedMessage
from mailqueue.contract.automation.inbox import EventStatus
from mailqueue.db.fetch import Conn
from mailqueue.ports.broker import BrokerMessage

# The project is at a bound, unknown or not this login's; locks, serialization, resources, shutdown.
_WAIT_CODES = ("MQ002", "22023", "42501", "40001", "40P01", "55P03", "57", "53", "08", "25006")


async def handle(
    conn: Conn, binding: QueueBinding, messages: Sequence[BrokerMessage]
) -> list[MessageOutcome]:
    """Return what became of messages, up to the first that must wait or that raised an error.

    What is `ConsumedEvent` is committed.
    """
    done: list[MessageOutcome] = []
    events: list[tuple[int, IncomingEvent]] = []
    outcomes: dict[int, MessageOutcome] = {}
    for place, message in enumerate(messages):
        if message.unreadable is not None:
            outcomes[place] = Dead(message.unreadable)
            continue
        try:
            events.append((place, read_event(message)))
        except UnreadableMessage as exc:
            outcomes[place] = Dead(str(exc))
    if events:
        consumer = binding.consumer_id
        found = await store.consume(
            conn, binding.project, [(consumer, event) for _, event in events]
        )
        for one in found:
            place, event = events[one.n - 1]
            outcomes[place] = outcome_of(one, event)
    for place in range(len(messages)):
        if place not in outcomes:
            break
        done.append(outcomes[place])
    return done


def outcome_of(one: ConsumedMessage, event: IncomingEvent) -> MessageOutcome:
    """Return what became of a message. Pure."""
    if one.answer is not None:
        outcome = store.outcome_of(one.answer)
        if outcome.status != EventStatus.FAILED:
            return ConsumedEvent(outcome)
        reasons = [f"rule {a.rule}: {a.reason}" for a in outcome.actions if a.reason is not None]
        return ConsumedEvent(outcome, outcome.reason or "; ".join(reasons) or "a rule failed")
    reason = f"{one.code}: {one.error}"
    if one.code is not None and one.code.startswith(_WAIT_CODES):
        return HeldBack(one.error or reason)
    return Dead(reason, event)
