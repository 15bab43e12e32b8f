"""Queues, incoming events, and what became of messages. Values only."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid5

from mailqueue.contract.automation.inbox import EventOutcome

_CONSUMERS = UUID("3f0c3c5e-6f0b-5d0e-9a5c-0d8f6f2b7a11")
"""Namespace of the ids of consumers."""


@dataclass(frozen=True, slots=True)
class QueueBinding:
    """A queue whose messages are events of a project."""

    queue: str
    project: str

    @property
    def consumer_id(self) -> UUID:
        """Return the id under which the inbox knows the consumer of this queue."""
        return consumer_of(self.queue, self.project)


def consumer_of(queue: str, project: str) -> UUID:
    """Return the id under which the inbox knows the consumer of a queue."""
    return uuid5(_CONSUMERS, f"rabbitmq:{project}:{queue}")


@dataclass(frozen=True, slots=True)
class IncomingEvent:
    """An event that was read from a message; `payload` and `headers` are JSON text."""

    message_id: UUID
    type: str
    payload: str
    headers: str


@dataclass(frozen=True, slots=True)
class ConsumedEvent:
    """The message is an event of the inbox; `failure`: it could not be handled there."""

    outcome: EventOutcome
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class Dead:
    """The message did not become an event, and will not by being delivered again."""

    reason: str
    event: IncomingEvent | None = None


@dataclass(frozen=True, slots=True)
class HeldBack:
    """The message cannot be handled now; a later try can succeed."""

    reason: str


MessageOutcome = ConsumedEvent | Dead | HeldBack


@dataclass(frozen=True, slots=True)
class LetterFilter:
    """Conditions on dead letters; None is any. `since` is included, `until` is not."""

    type: str | None = None
    since: datetime | None = None
    until: datetime | None = None
