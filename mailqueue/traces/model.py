"""Steps of emails and the spans made of them. Values only."""

from collections.abc import Mapping
from datetime import datetime
from enum import IntEnum
from typing import NamedTuple
from uuid import UUID


class TracePage(NamedTuple):
    """What is exported next.

    `state` is held (by another process), waiting (for open transactions) or ready. `is_old`: it is
    older than spans are kept for a collector that is down.
    """

    state: str
    exported_to: datetime | None
    after_key: str | None
    until: datetime | None
    is_old: bool


class SentStages(NamedTuple):
    """What a worker did at an attempt, in milliseconds before `noted_at`."""

    email_id: UUID
    noted_at: datetime
    claimed_ms: int
    begun_ms: int
    composed_ms: int
    answered_ms: int


class TraceStep(NamedTuple):
    """An attempt, or an event if `event_id` is set, and what its email says.

    `accepted_at` is None for an email that is no longer stored.
    """

    at: datetime
    key: str
    email_id: UUID
    account_id: int | None
    attempt: int | None
    status: str | None
    code: str | None
    enhanced: str | None
    response_ms: int | None
    event_id: UUID | None
    type: str | None
    source: str | None
    occurred_at: datetime | None
    project_id: UUID | None
    is_test: bool | None
    accepted_at: datetime | None
    traceparent: str | None
    provider: str | None
    waited_from: datetime | None
    is_first: bool
    stages: SentStages | None = None
    """Of an attempt; None: its worker recorded none."""


class TraceCall(NamedTuple):
    """A call of a webhook, and what its email says.

    `is_told`: the event is in the log of events, and has a span. `accepted_at` is None for an email
    that is not sampled or no longer stored. `is_old`: see TracePage.
    """

    delivery_id: UUID
    tried_at: datetime
    attempt: int
    status_code: int | None
    is_error: bool
    took_ms: int
    webhook_id: UUID
    url: str | None
    event_id: UUID | None
    type: str | None
    is_told: bool
    email_id: UUID | None
    project_id: UUID
    is_test: bool | None
    accepted_at: datetime | None
    traceparent: str | None
    is_old: bool


class SpanKind(IntEnum):
    """Kinds of spans, by their numbers in OTLP."""

    INTERNAL = 1
    CLIENT = 3
    PRODUCER = 4
    CONSUMER = 5


class TraceSpan(NamedTuple):
    """A span; ids are in hexadecimal digits, `parent_id` is empty for the first of a trace."""

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    kind: SpanKind
    began_at: datetime
    ended_at: datetime
    attributes: Mapping[str, str | int | bool]
    is_error: bool = False
