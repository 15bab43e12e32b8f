"""The interface of a provider's webhook events: verifying and parsing requests.

An adapter is pure except for `verify`, which may fetch a public key. Every verified request is
stored before it is answered; its events are parsed later, perhaps more than once: `events` returns
the same events for the same request.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

JsonObject = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class InboundRequest:
    """An HTTP request; header names in lower case, the first value of each; the raw body."""

    method: str
    headers: Mapping[str, str]
    query: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class VerificationSecrets:
    """The secrets of an account for verifying its provider's requests; any may be missing.

    `signing` has the shared secrets or public keys as the provider shows them, several during a
    rotation. `user` and `password` are for Basic authentication. `topics` are the accepted sources
    of events (SNS: topic ARNs).
    """

    signing: Sequence[str] = ()
    user: str | None = None
    password: str | None = None
    topics: Sequence[str] = ()
    settings: JsonObject = field(default_factory=dict)  # other settings of the adapter


@dataclass(frozen=True, slots=True)
class Verified:
    """The request is authentic.

    Requests with equal `dedupe_key` are duplicates; None has none.

    `confirm` is a URL to fetch once after the request is stored (SNS requires it).
    """

    dedupe_key: str | None
    confirm: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class NotVerified:
    """The request is not authentic; `why` is logged, not sent to the client."""

    why: str


@dataclass(frozen=True, slots=True)
class ProviderEvent:
    """One event of a request; fields have the meaning of those of `mailqueue.events.model.Event`.

    `type` is an event type (delivered, hard_bounce, …), or None for events that are stored only;
    `kind` is the provider's name of the event. `event_id` is the provider's; events of several
    recipients in one request have different ids.
    """

    type: str | None
    kind: str
    event_id: str | None = None
    email_id: UUID | None = None
    provider_message_id: str | None = None
    message_id: str | None = None
    recipient: str | None = None
    occurred_at: datetime | None = None
    code: str | None = None
    detail: str | None = None
    suppress: str | None = None
    data: JsonObject = field(default_factory=dict)
    source: str | None = None  # the source of the event, if it is not the provider


@dataclass(frozen=True, slots=True)
class BadEvent:
    """An element that cannot be parsed; the other events of its request count."""

    why: str


class InboundProvider(Protocol):
    """Verifies and parses the events of one provider."""

    @property
    def name(self) -> str:
        """The provider's name in webhook URLs: ses, sendgrid, …; also the source of its events."""
        ...

    @property
    def max_bytes(self) -> int:
        """Maximum size of a request, in bytes."""
        ...

    async def verify(
        self, request: InboundRequest, secrets: VerificationSecrets, now: datetime
    ) -> Verified | NotVerified:
        """Return a Verified if the provider sent the request, else a Refused.

        Raises:
            Unavailable: it cannot be checked now (a key could not be fetched); answered with 503.
        """
        ...

    def events(self, request: InboundRequest) -> Sequence[ProviderEvent | BadEvent]:
        """Return the events of a verified request; never raises."""
        ...
