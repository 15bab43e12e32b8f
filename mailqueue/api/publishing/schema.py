"""Request bodies of outboxes."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.api.webhooks.schema import Types

TransportWord = Literal["webhook", "rabbitmq"]
TargetText = Annotated[StorableText, Field(min_length=1, max_length=200)]


class ChangeOutbox(StrictRequestModel):
    """Where the messages of an outbox are published from now on."""

    target: TargetText
    """Where its messages are published: the id of a webhook of the project; with `rabbitmq`:
    `masstransit`, `masstransit:EXCHANGE`, `cloudevents:EXCHANGE` or `cloudevents-binary:EXCHANGE`.
    """
    transport: TransportWord = "webhook"
    """How its messages are published."""
    events: Types | None = None
    """Types of events of emails that it publishes as messages; an empty list is all, null is none.
    Omitted: unchanged, none for a new outbox.
    """


class NewOutbox(ChangeOutbox):
    """An outbox to add."""

    name: Annotated[StorableText, Field(min_length=1, max_length=63)]
    """Name of the outbox, unique in its project: lower-case letters, digits, - and _."""


class SkipMessage(StrictRequestModel):
    """A message to leave out."""

    message_id: Annotated[UUID, Field(strict=False)]
    """Id of the message, as `publish()` returned it."""
