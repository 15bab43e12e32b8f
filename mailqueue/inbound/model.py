"""Values: endpoints of providers, and received requests."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from mailqueue.ports.inbound import VerificationSecrets


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
    secrets: VerificationSecrets = field(default_factory=VerificationSecrets, repr=False)


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
    received_at: datetime
    wait_until: datetime
    assigned_at: datetime
    attempts: int
    waiting: list[int] | None
    outcome: dict[str, Any]

    @property
    def age(self) -> timedelta:
        """Return how long ago the request was received, at its claim."""
        return self.assigned_at - self.received_at

    @property
    def is_over(self) -> bool:
        """Return whether events without a mail are given up now."""
        return self.wait_until <= self.assigned_at
