"""What a provider's events come in as: how its requests are proved and read.

An adapter is pure but for `verify`, which may fetch a public key. The frame around it stores
every verified request before it answers, asks for the events later, and may ask again: `events`
gives the same for the same request.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class InboundRequest:
    """A request as it came: names of headers in lower case, the first of each; the raw body."""

    method: str
    headers: Mapping[str, str]
    query: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Secrets:
    """What the account was given to know its provider by; every field may be missing.

    `signing` is the shared secret or public key as the provider shows it, one or more while it
    is changed. `user` and `password` are of Basic authentication. `topics` are the names that
    events may come under (SNS: topic ARNs).
    """

    signing: Sequence[str] = ()
    user: str | None = None
    password: str | None = None
    topics: Sequence[str] = ()
    settings: Json = field(default_factory=dict)  # what else the provider's adapter knows of


@dataclass(frozen=True, slots=True)
class Verified:
    """It came from the provider. Twins have one `dedupe_key`; None: each is another.

    `confirm` is a URL to fetch once after it is stored, by our guarded exchange (SNS asks so).
    """

    dedupe_key: str | None
    confirm: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """It is not to be believed; `why` is for the log, never for the answer."""

    why: str


@dataclass(frozen=True, slots=True)
class ProviderEvent:
    """One event of a request, read. Fields mean what those of `mailqueue.events.model.Event` do.

    `type` is a word of ours (delivered, hard_bounce, …), or None for what we do not know or do
    not act on: such is kept with its `kind`, the provider's own word. `event_id` is the
    provider's; where a request names several recipients each has one of its own.
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
    data: Json = field(default_factory=dict)
    source: str | None = None  # who says so, where that is another than the provider


@dataclass(frozen=True, slots=True)
class BadEvent:
    """An element nobody can read; the others of its request go through."""

    why: str


class Provider(Protocol):
    """Knows the events of one provider."""

    @property
    def name(self) -> str:
        """The word of its URL: ses, sendgrid, …; also the source of its events."""
        ...

    @property
    def most_bytes(self) -> int:
        """How large a request may be."""
        ...

    async def verify(
        self, request: InboundRequest, secrets: Secrets, now: datetime
    ) -> Verified | Refused:
        """Return whether a request came from the provider.

        Raises:
            Unavailable: it cannot be told now (a key could not be fetched): answered 503.
        """
        ...

    def events(self, request: InboundRequest) -> Sequence[ProviderEvent | BadEvent]:
        """Read the events of a verified request. Whatever it holds, this does not raise."""
        ...
