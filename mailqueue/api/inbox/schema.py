"""Request bodies and queries of events and event rules."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, JsonValue

from mailqueue.api.emails.schema import Instant, StorableObject, StorableText
from mailqueue.api.http.pagination import PageQuery
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.inbox.events import REPLAY_EVENTS

EventId = Annotated[UUID, Field(strict=False)]
EventTypeText = Annotated[StorableText, Field(min_length=1, max_length=200)]
PathText = Annotated[StorableText, Field(max_length=500)]
PriorityWord = Literal["critical", "high", "normal", "low"]
ActionWord = Literal["mail", "cancel", "enroll", "leave", "record"]
ReplayedStatus = Literal["handled", "ignored", "failed"]
RuleTags = Annotated[list[Annotated[StorableText, Field(max_length=128)]], Field(max_length=20)]


class DeliverEvent(StrictRequestModel):
    """An event to deliver."""

    message_id: EventId
    """Id of the event, chosen by its sender: the same event has the same id in each delivery."""
    type: EventTypeText
    """Type of the event, such as `OrderPlaced`: event rules go by it."""
    payload: StorableObject
    """The event, up to 256 KiB."""
    headers: StorableObject = Field(default_factory=dict)
    """Headers of the message: `ConversationId`, `CorrelationId`, `traceparent` and
    `ExpirationTime` have a meaning."""
    consumer_id: EventId | None = None
    """Consumer of the message, where several handle it apart."""


class InboxQuery(PageQuery):
    """Filters of a list of events."""

    type: EventTypeText | None = None
    """Filter by type."""
    status: Literal["handled", "ignored", "expired", "failed"] | None = None
    """Filter by status."""
    since: Instant | None = None
    """Earliest time of arrival: RFC 3339."""
    until: Instant | None = None
    """Time before which they arrived: RFC 3339."""


class ReplayEvents(StrictRequestModel):
    """The events to replay: by id, type, status or time."""

    message_ids: Annotated[list[EventId], Field(min_length=1, max_length=1000)] | None = None
    """Ids of the events."""
    type: EventTypeText | None = None
    """Events of this type."""
    status: ReplayedStatus | None = None
    """Events with this status."""
    since: Instant | None = None
    """Earliest time of arrival: RFC 3339."""
    until: Instant | None = None
    """Time before which they arrived: RFC 3339."""
    dry_run: bool = False
    """Only count what would be done."""
    limit: Annotated[int, Field(ge=1, le=REPLAY_EVENTS)] = REPLAY_EVENTS
    """Maximum number of events per request."""
    cursor: str | None = None
    """`next_cursor` of the previous request; the oldest events if omitted."""


class ChangeEventRule(StrictRequestModel):
    """Fields of an event rule to change; omitted fields are unchanged."""

    event_type: EventTypeText | None = None
    """Type of the events that it is about."""
    condition: PathText | None = None
    """jsonpath that the payload must satisfy, such as `$.total > 100`; null for every event of
    the type. Without `like_regex`, `**` and comparisons of two paths."""
    action: ActionWord | None = None
    """`mail` queues an email, `cancel` cancels unfinished emails that rules made under `key`;
    `enroll` enrolls the contact of `recipient` in `sequence`, `leave` ends what it has there, and
    `record` records the event for conditions and goals of sequences."""
    template: Annotated[StorableText, Field(max_length=120)] | None = None
    """Template of the email: slug, or slug@version."""
    recipient: PathText | None = None
    """Address, or the jsonpath of one, which begins with `$`: `$.customer.email`."""
    recipient_name: PathText | None = None
    """Name of the recipient, or its jsonpath."""
    language: PathText | None = None
    """Language of the email, or its jsonpath; that of the template if null."""
    variables: Annotated[StorableObject, Field(max_length=50)] | None = None
    """Variables of the template: a jsonpath, which begins with `$`, or the value itself."""
    priority: PriorityWord | None = None
    """Priority of the email; normal if null."""
    tags: RuleTags | None = None
    """Tags of the email: at most 20, of 1 to 128 characters."""
    delay_seconds: Annotated[int, Field(ge=0, le=31_622_400)] | None = None
    """Seconds after the event before which the email is not sent."""
    key: PathText | None = None
    """Key under which the email is made or cancelled, or its jsonpath: `$.orderId`."""
    sequence: Annotated[StorableText, Field(max_length=63)] | None = None
    """Sequence that it enrolls in or ends enrollments of; null with `leave` for every sequence."""
    is_enabled: bool | None = None
    """Whether it acts on events; false for a new rule, so that it can be tried first."""


class NewEventRule(ChangeEventRule):
    """An event rule."""

    name: Annotated[StorableText, Field(max_length=63)]
    """Name of the rule: lower-case letters, digits, `-` and `_`."""
    event_type: EventTypeText
    """Type of the events that it is about."""


class TryEventRule(StrictRequestModel):
    """A sample event."""

    payload: StorableObject
    """Payload of the event."""
    headers: dict[str, JsonValue] = Field(default_factory=dict)
    """Headers of the message."""
