"""The interface for publishing messages of outboxes. Values and a Protocol."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID


@dataclass(frozen=True, slots=True)
class OutgoingMessage:
    """A message of an outbox; `outbox` and `project` are names.

    `headers` and `properties` are JSON objects as text.
    """

    project: str
    outbox: str
    sequence_number: int
    message_id: UUID
    message_type: str
    body: str
    content_type: str
    enqueue_time: datetime | None = None
    conversation_id: UUID | None = None
    correlation_id: UUID | None = None
    initiator_id: UUID | None = None
    request_id: UUID | None = None
    source_address: str | None = None
    destination_address: str | None = None
    response_address: str | None = None
    fault_address: str | None = None
    expiration_time: datetime | None = None
    headers: str | None = None
    properties: str | None = None


@dataclass(frozen=True, slots=True)
class EncodedMessage:
    """A message in the format of its target, and the exchange of a broker that it is for.

    `key` None: the exchange sends it to all of its queues.
    """

    body: bytes
    content_type: str
    headers: Mapping[str, str | bool | int]
    exchange: str
    key: str | None


@dataclass(frozen=True, slots=True)
class PublishResult:
    """How many messages were confirmed, from the first one; `error` says why not all of them.

    `wait` is the pause that the receiver asked for. `error` None with fewer messages than were
    given: the time was over.
    """

    confirmed: int
    error: str | None = None
    wait: timedelta | None = None


class Publisher(Protocol):
    """Publishes messages to one kind of target, such as HTTP endpoints or exchanges of a broker."""

    async def publish(
        self, target: str, messages: Sequence[OutgoingMessage], *, until: float
    ) -> PublishResult:
        """Publish messages in their order and return how many the receiver confirmed.

        A message counts once the receiver has confirmed it and all those before it. None is begun
        after the event loop's time `until`: another worker may have the outbox then.
        """
        ...

    def rest(self) -> None:
        """Close connections that were idle for too long."""
        ...

    def close(self) -> None:
        """Close every connection that is not in use."""
        ...
