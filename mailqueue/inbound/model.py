"""What comes in from providers: where they tell it, and what waits to be read. Values only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple
from uuid import UUID

from mailqueue.ports.inbound import Secrets

Json = Mapping[str, Any]


class InboundEndpoint(NamedTuple):
    """Where a provider tells the events of a sender account."""

    id: UUID
    project_id: UUID
    sender_account_id: int
    sealed: bytes


@dataclass(frozen=True, slots=True)
class EndpointSecrets:
    """What of an endpoint is sealed: the token of its URL, and what proves its provider."""

    token: str = field(repr=False)
    secrets: Secrets = field(default_factory=Secrets, repr=False)


@dataclass(frozen=True, slots=True)
class NewRequest:
    """A request of a provider, proved, or a bounce mail, to be read later."""

    provider: str
    body: bytes
    project_id: UUID | None = None
    sender_account_id: int | None = None
    dedupe_key: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    confirm_url: str | None = None


class ClaimedRequest(NamedTuple):
    """One of those, claimed; `waiting` are the places of its events that had no mail."""

    id: UUID
    claim_no: int
    project_id: UUID | None
    sender_account_id: int | None
    provider: str
    headers: dict[str, str]
    query: dict[str, str]
    body: bytes | None
    confirm_url: str | None
    age: timedelta
    is_over: bool
    attempts: int
    waiting: list[int] | None
    outcome: dict[str, Any]


class RequestState(StrEnum):
    """What becomes of a claimed request."""

    PROCESSED = "processed"
    UNMATCHED = "unmatched"  # of no mail we know, even days later
    FAILED = "failed"
    WAITING = "waiting"  # offered again later, no attempt spent
    AGAIN = "again"  # something went wrong


class SettledRequest(NamedTuple):
    """What is written about a claimed request."""

    id: UUID
    claim_no: int
    state: RequestState
    wait: timedelta | None = None
    waiting: Sequence[int] | None = None
    outcome: Json | None = None
    error: str | None = None


class RequestSummary(NamedTuple):
    """A request as it is listed."""

    id: UUID
    project: str | None
    sender: str | None
    provider: str
    status: str
    received_at: datetime
    run_at: datetime
    attempts: int
    bytes: int
    outcome: dict[str, Any]
    last_error: str | None
    finished_at: datetime | None
