"""Outboxes, as callers see them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from mailqueue.contract.value import Value


class OutboxTransport(StrEnum):
    """How the messages of an outbox are published."""

    WEBHOOK = "webhook"
    RABBITMQ = "rabbitmq"


@dataclass(frozen=True, slots=True)
class Outbox(Value):
    """Where messages that services write are published, and what waits."""

    id: UUID
    """Id of the outbox; `mailqueue why` explains it."""
    name: str
    """Name of the outbox, unique in its project."""
    transport: OutboxTransport
    """How its messages are published."""
    target: str
    """Where its messages are published: the id of a webhook of the project; with `rabbitmq`, the
    format and the exchange, such as `cloudevents:shop.events`.
    """
    events: Sequence[str] | None
    """Types of events of emails that it publishes; empty for all, null for none."""
    waiting: int
    """Number of messages that are not published yet; 10001 stands for more than 10,000."""
    oldest_waiting_at: datetime | None
    """Time at which the first of them was written."""
    last_published_at: datetime | None
    """Time at which messages were last published."""
    failures: int
    """Number of attempts that failed since a message was published."""
    last_error: str | None
    """Reason of the last failed attempt; null once messages are published again."""
    created_at: datetime
    """Time at which the outbox was added."""


@dataclass(frozen=True, slots=True)
class Outboxes(Value):
    """The outboxes of a project, by name."""

    data: Sequence[Outbox]
