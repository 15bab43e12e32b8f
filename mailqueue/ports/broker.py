"""The interface for consuming queues of a message broker. Values and Protocols."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from mailqueue.core.errors import Unavailable


class BrokerUnavailable(Unavailable):
    """The broker cannot be reached, or it refuses a queue; the message says why."""


@dataclass(frozen=True, slots=True)
class BrokerMessage:
    """A message as it was delivered; its values in `headers` can be written as JSON.

    `tag` grows with each delivery of a consumer. `deliveries` counts this one too. `unreadable`
    says which properties could not be read, and why.
    """

    tag: int
    body: bytes
    content_type: str | None = None
    message_id: str | None = None
    type: str | None = None
    correlation_id: str | None = None
    headers: Mapping[str, Any] = field(default_factory=dict)
    deliveries: int = 1
    unreadable: str | None = None


class BrokerQueue(Protocol):
    """A queue that is being consumed. Each method raises BrokerUnavailable."""

    async def receive(self, limit: int) -> Sequence[BrokerMessage]:
        """Wait for messages; return at most `limit` of them, in the order of the queue."""
        ...

    def buffered(self) -> Sequence[BrokerMessage]:
        """Return messages that were delivered and not received yet."""
        ...

    async def acknowledge(self, message: BrokerMessage) -> None:
        """Acknowledge a message."""
        ...

    async def dead_letter(self, message: BrokerMessage, reason: str) -> None:
        """Publish a message to the queue's dead-letter queue, and wait until it is confirmed."""
        ...


class Broker(Protocol):
    """A message broker."""

    def consuming(self, queue: str) -> AbstractAsyncContextManager[BrokerQueue]:
        """Consume a queue during the block; what is not acknowledged then is delivered again.

        Raises:
            BrokerUnavailable: the broker or the queue cannot be used.
        """
        ...

    async def close(self) -> None:
        """Close the connection."""
        ...
