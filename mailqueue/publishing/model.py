"""Claimed outboxes and what was published of them. Values only."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID


class OutboxMessage(NamedTuple):
    """A message as a row."""

    outbox_id: UUID
    sequence_number: int
    message_id: UUID
    message_type: str
    body: str
    content_type: str
    enqueue_time: datetime | None
    conversation_id: UUID | None
    correlation_id: UUID | None
    initiator_id: UUID | None
    request_id: UUID | None
    source_address: str | None
    destination_address: str | None
    response_address: str | None
    fault_address: str | None
    expiration_time: datetime | None
    headers: str | None
    properties: str | None
    is_expired: bool


class OutboxHorizon(NamedTuple):
    """Where an outbox publishes, and the numbers between which its next messages are.

    `is_waiting`: transactions are open that may commit a number below the horizon. `revision` is
    that of its webhook; None: there is none that is enabled.
    """

    id: UUID
    outbox: str
    project: str
    transport: str
    target: str
    revision: int | None
    cursor: int
    horizon: int
    is_waiting: bool


class ClaimedOutbox(NamedTuple):
    """A claimed row of outbox_state, with the next messages of the outbox."""

    id: UUID
    claim_no: int
    project_id: UUID
    attempts: int
    limits: OutboxHorizon | None = None
    messages: Sequence[OutboxMessage] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """What was published of an outbox, up to the number `last`; it is due again after `wait`.

    `error` says why no more was published.
    """

    last: int
    published: Sequence[int]
    expired: Sequence[int]
    wait: timedelta
    error: str | None = None

    @property
    def size(self) -> int:
        """Return the room that it takes in a commit."""
        return 1 + len(self.published) + len(self.expired)
