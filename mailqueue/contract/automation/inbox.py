"""Events of other services, the rules that act on them, and what became of each event."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from mailqueue.contract.value import Value


class EventStatus(StrEnum):
    """What became of an event."""

    RECEIVED = "received"  # its delivery is not committed yet
    HANDLED = "handled"
    IGNORED = "ignored"  # no enabled rule applies
    EXPIRED = "expired"
    FAILED = "failed"  # it cannot be read, or a rule failed


class RuleAction(StrEnum):
    """What a rule does with an event."""

    MAIL = "mail"
    CANCEL = "cancel"
    ENROLL = "enroll"
    LEAVE = "leave"
    RECORD = "record"


class RulePriority(StrEnum):
    """Priority of the emails of a rule."""

    CRITICAL = "critical"
    HIGH = "high"
    NORMAL = "normal"
    LOW = "low"


class RuleResult(StrEnum):
    """What a rule did with an event."""

    MAIL = "mail"
    CANCELLED = "cancelled"
    FAILED = "failed"
    ENROLLED = "enrolled"
    LEFT = "left"
    RECORDED = "recorded"


@dataclass(frozen=True, slots=True)
class EventRule(Value):
    """What is done with the events of a type."""

    name: str
    """Name of the rule, unique in its project."""
    event_type: str
    """Type of the events that it is about."""
    condition: str | None
    """jsonpath that the payload must satisfy; null for every event of the type."""
    action: RuleAction
    """`mail` queues an email, `cancel` cancels unfinished emails that rules made under `key`;
    `enroll` enrolls the contact of `recipient` in `sequence`, `leave` ends what it has there, and
    `record` records the event for conditions and goals of sequences."""
    template: str | None
    """Template of the email: slug, or slug@version."""
    recipient: str | None
    """Address, or the jsonpath of one, which begins with `$`."""
    recipient_name: str | None
    """Name of the recipient, or its jsonpath."""
    language: str | None
    """Language of the email, or its jsonpath; null for that of the template."""
    variables: Mapping[str, Any]
    """Variables of the template: a jsonpath, which begins with `$`, or the value itself."""
    priority: RulePriority | None
    """Priority of the email; null for normal."""
    tags: Sequence[str]
    """Tags of the email."""
    delay_seconds: int
    """Seconds after the event before which the email is not sent."""
    key: str | None
    """Key under which the email is made or cancelled, or its jsonpath."""
    sequence: str | None
    """Sequence that it enrolls in or ends enrollments of; null with `leave` for every sequence."""
    is_enabled: bool
    """Whether it acts on events."""
    version: int
    """1, and one more with each change; the audit log has all versions."""
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class EventRules(Value):
    """The event rules of a project, by name."""

    data: Sequence[EventRule]


@dataclass(frozen=True, slots=True)
class EventAction(Value):
    """What one rule did with an event."""

    rule: str
    rule_version: int
    result: RuleResult
    """`cancelled` with no `cancelled_ids` found no unfinished email under the key."""
    email_id: UUID | None
    """Id of the email that it made."""
    cancelled_ids: Sequence[UUID]
    """Ids of the emails that it cancelled."""
    key: str | None
    """Key under which emails were made or cancelled."""
    reason: str | None
    """Why the rule failed, or did not enroll the contact."""
    enrollment_ids: Sequence[UUID]
    """Ids of the enrollments that it made, ended or recorded the event for."""


@dataclass(frozen=True, slots=True)
class EventOutcome(Value):
    """What became of an event; each of its deliveries gets this answer."""

    message_id: UUID
    consumer_id: UUID
    type: str
    status: EventStatus
    reason: str | None
    """Why the event as a whole was not handled."""
    is_duplicate: bool
    """Whether the event was delivered before."""
    receive_count: int
    """Number of deliveries so far."""
    email_ids: Sequence[UUID]
    """Ids of the emails that rules made."""
    cancelled_ids: Sequence[UUID]
    """Ids of the emails that rules cancelled."""
    actions: Sequence[EventAction]
    """What each rule did, in order."""


@dataclass(frozen=True, slots=True)
class InboxEvent(Value):
    """An event in the inbox."""

    message_id: UUID
    consumer_id: UUID
    type: str
    status: EventStatus
    reason: str | None
    """Why the event as a whole was not handled."""
    received_at: datetime
    """Time of the first delivery."""
    receive_count: int
    """Number of deliveries."""
    expires_at: datetime | None
    """Time after which it means nothing, from its headers."""
    conversation_id: str | None
    correlation_id: str | None
    traceparent: str | None
    """W3C trace context, from its headers."""
    is_test: bool
    actions: Sequence[EventAction]
    """What each rule did, in order."""


@dataclass(frozen=True, slots=True)
class InboxEventDetail(InboxEvent):
    """An event in the inbox with its payload and headers."""

    payload: Mapping[str, Any] | None
    """Null where it could not be read."""
    headers: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class InboxDeliveries(Value):
    """The event of a message, once for each consumer."""

    data: Sequence[InboxEventDetail]


@dataclass(frozen=True, slots=True)
class TriedEmail(Value):
    """The email that a rule would make."""

    recipient: str
    recipient_name: str | None
    subject: str | None
    """Subject of the template, not rendered."""
    priority: RulePriority
    tags: Sequence[str] | None
    run_at: datetime | None
    """Earliest time to send; null where the recipient is suppressed."""
    variables: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class RuleTrial(Value):
    """What a rule would do with a payload; nothing was kept."""

    rule: str
    status: EventStatus
    result: RuleResult | None
    """Null where the rule does not apply to the payload."""
    reason: str | None
    """Why it would fail."""
    key: str | None
    """Key under which emails would be made or cancelled."""
    cancelled_ids: Sequence[UUID]
    """Ids of the emails that it would cancel."""
    email: TriedEmail | None
    """The email that it would make."""


@dataclass(frozen=True, slots=True)
class EventReplay(Value):
    """What a replay of events did, or in a dry run would do."""

    is_dry_run: bool
    events: int
    """Events that were read."""
    emails: int
    """Emails that rules made."""
    cancelled: int
    """Emails that rules cancelled."""
    failed: int
    """Rules that failed, over all events."""
    unchanged: int
    """Events on which no rule acted again."""
    next_cursor: str | None
    """`cursor` of the next request; null after the last event."""
