"""Consumers of the stream of events, as operators see them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from mailqueue.contract.value import Value


@dataclass(frozen=True, slots=True)
class ConsumerState(Value):
    """A reader of the stream of events, and how far it is behind."""

    name: str
    """Name of the consumer."""
    is_ordered: bool
    """Whether an event waits for open transactions that may commit an earlier one."""
    takes_test: bool
    """Whether it gets events of test mail."""
    position: int
    """Number of the event up to which it has handled all."""
    waiting: int
    """Number of events that it has not handled; 10001 stands for more than 10,000."""
    waiting_since: datetime | None
    """Time at which the first of them was written."""
    handled_at: datetime | None
    """Last time at which it handled events."""
    skipped: int
    """Number of events that it does not take: of other types, or of test mail."""
    left_out: int
    """Number of events whose handling failed, and which were left out."""
    left_out_error: str | None
    """Reason of the last of them."""
    last_error: str | None
    """Reason of the last failed attempt."""
    is_running: bool
    """Whether a worker reads events."""


@dataclass(frozen=True, slots=True)
class ConsumerStates(Value):
    """The consumers of the stream of events."""

    consumers: Sequence[ConsumerState]
    """Consumers, by name."""


@dataclass(frozen=True, slots=True)
class ConsumerReplay(Value):
    """Events that a consumer handles again."""

    consumer: str
    """Name of the consumer."""
    since: datetime
    """Time since which the events were written."""
    events: int
    """Number of these events, as far as they are stored."""
    first_at: datetime | None
    """Time at which the first of them was written."""
    is_dry_run: bool
    """Whether they were only counted."""
