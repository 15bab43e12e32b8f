"""Values: endpoints of providers, and received requests."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple
from uuid import UUID

from mailqueue.ports.inbound import Secrets

Json = Mapping[str, Any]


class InboundEndpoint(NamedTuple):
    """The endpoint at which a provider reports the events of a sender account."""

    id: UUID
    project_id: UUID
    sender_account_id: int
    sealed: bytes


@dataclass(frozen=True, slots=True)
class EndpointSecrets:
    """Opened secrets of an endpoint: the token of its URL, and what verifies its provider."""

    token: str = field(repr=False)
    secrets: Secrets = field(default_factory=Secrets, repr=False)


@dataclass(frozen=True, slots=True)
class NewRequest:
    """A verified request of a provider, or a bounce mail, to be stored and read later."""

    provider: str
    body: bytes
    project_id: UUID | None = None
    sender_account_id: int | None = None
    dedupe_key: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    confirm_url: str | None = None


class ClaimedRequest(NamedTuple):
    """A claimed request; `waiting` are the positions of its events whose mail was not found yet."""

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
    """State of a request after it was processed."""

    PROCESSED = "processed"
    UNMATCHED = "unmatched"  # its mail is still unknown after days
    FAILED = "failed"
    WAITING = "waiting"  # retried later without counting an attempt
    AGAIN = "again"  # retried after an error


class SettledRequest(NamedTuple):
    """Result of processing a claimed request, to be stored."""

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
