"""The format of a webhook's requests: body, headers and signature. Values only."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple
from uuid import UUID

from mailqueue.core.secret import Secret
from mailqueue.ports.webhook import WebhookHeaders
from mailqueue.webhooks.model import EmailFacts, EventType

JSON_TYPE = "application/json"


class FormatName(StrEnum):
    """Names of formats."""

    MAILQUEUE = "mailqueue"
    RESEND = "resend"
    POSTMARK = "postmark"
    SENDGRID = "sendgrid"
    MAILGUN = "mailgun"


@dataclass(frozen=True, slots=True)
class FormattedEvent:
    """An event to be written in the format of a provider.

    `data` is that of the payload in our format; `facts` is None for a test event and for an email
    that is no longer stored.
    """

    id: UUID
    type: EventType
    at: datetime
    data: Mapping[str, Any]
    facts: EmailFacts | None = None


class UnsignedRequest(NamedTuple):
    """A request before it is signed; `at` is the time of the attempt, in seconds since 1970."""

    event_id: str
    body: bytes
    at: int
    keys: Sequence[bytes]
    """The current key, then the previous one while it signs."""
    content_type: str = JSON_TYPE


class SignedRequest(NamedTuple):
    """Headers and body of a request."""

    headers: WebhookHeaders
    body: bytes


@dataclass(frozen=True, slots=True)
class WebhookFormat:
    """One format of requests.

    `write` returns the body of an event, None if there is none to send; a format without it sends
    the stored payload. `read_secret` validates a secret that a caller chose and raises
    InvalidField. `public_key_of` belongs to formats with a key pair, whose secret is never shown.
    `signs_twice`: a request can carry the signature of the previous key too.
    """

    name: FormatName
    types: tuple[EventType, ...]
    write: Callable[[FormattedEvent], bytes | None] | None
    sign: Callable[[UnsignedRequest], SignedRequest]
    make_secret: Callable[[], Secret]
    read_secret: Callable[[str], Secret]
    key_of: Callable[[Secret], bytes]
    public_key_of: Callable[[Secret], str] | None = None
    signs_twice: bool = False
    takes_login: bool = False
    """Whether the URL may hold the user name and password, which become the secret."""
