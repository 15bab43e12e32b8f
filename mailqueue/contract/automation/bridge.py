"""Queues of a message broker and dead letters, as callers see them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from mailqueue.contract.value import Value


class ConsumptionState(StrEnum):
    """Whether the messages of a queue are taken."""

    CONSUMING = "consuming"
    WAITING = "waiting"  # the project takes no events now
    UNAVAILABLE = "unavailable"  # the broker or the queue cannot be used
    STOPPED = "stopped"


class LetterStatus(StrEnum):
    """Whether a dead letter can be replayed."""

    WAITING = "waiting"
    REPLAYED = "replayed"


@dataclass(frozen=True, slots=True)
class BrokerQueueState(Value):
    """A queue of RabbitMQ whose messages are events."""

    name: str
    """Name of the queue."""
    project: str
    """Project in which its messages are events."""
    state: ConsumptionState
    """Whether its messages are taken, as its consumer last reported."""
    reason: str | None
    """Why they are not."""
    received_messages: int
    """Number of messages that were handled, repeated deliveries included."""
    received_at: datetime | None
    """Time of the last message."""
    seen_at: datetime
    """Time at which its consumer last reported."""
    is_silent: bool
    """Whether it has not reported for more than a minute."""


@dataclass(frozen=True, slots=True)
class BrokerQueues(Value):
    """The queues of RabbitMQ, by name."""

    data: Sequence[BrokerQueueState]


@dataclass(frozen=True, slots=True)
class DeadLetter(Value):
    """A message that did not become an event."""

    id: UUID
    """Id of the dead letter."""
    queue: str
    """Queue from which it came."""
    message_id: UUID | None
    """Id of the message, if it could be read."""
    type: str | None
    """Type of the message, if it could be read."""
    reason: str
    """Why the message could not be handled."""
    deliveries: int
    """Number of deliveries by the broker when it was given up."""
    status: LetterStatus
    """Whether it can be replayed."""
    created_at: datetime
    """Time at which it was given up."""
    replayed_at: datetime | None
    """Time at which it became an event."""


@dataclass(frozen=True, slots=True)
class DeadLetterDetail(Value):
    """A message that did not become an event, with its content."""

    id: UUID
    """Id of the dead letter."""
    queue: str
    """Queue from which it came."""
    message_id: UUID | None
    """Id of the message, if it could be read."""
    type: str | None
    """Type of the message, if it could be read."""
    content_type: str | None
    """Media type that the message named."""
    headers: Mapping[str, Any]
    """Headers of the message."""
    body: str | None
    """Body of the message as text; null if it was larger than 1 MiB."""
    reason: str
    """Why the message could not be handled."""
    deliveries: int
    """Number of deliveries by the broker when it was given up."""
    status: LetterStatus
    """Whether it can be replayed."""
    created_at: datetime
    """Time at which it was given up."""
    replayed_at: datetime | None
    """Time at which it became an event."""


@dataclass(frozen=True, slots=True)
class LetterReplay(Value):
    """What a replay of dead letters did, or in a dry run would do."""

    is_dry_run: bool
    letters: int
    """Dead letters that were read."""
    events: int
    """Dead letters that became events."""
    duplicates: int
    """Dead letters whose message was an event already; nothing was done for them."""
    emails: int
    """Emails that rules made."""
    cancelled: int
    """Emails that rules cancelled."""
    failed: int
    """Dead letters that still cannot be handled, and stay."""
    next_cursor: str | None
    """`cursor` of the next request; null after the last dead letter."""
