"""Watched inboxes, the channels and rules of their persons, and notifications of new mail."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from mailqueue.contract.value import Value


class InboxProvider(StrEnum):
    """How an inbox is read."""

    IMAP = "imap"
    GMAIL = "gmail"


class InboxStatus(StrEnum):
    """State of an inbox."""

    ACTIVE = "active"
    PAUSED = "paused"
    ERROR = "error"  # it has to be reconnected


class ChannelType(StrEnum):
    """Kind of a channel."""

    SLACK = "slack"
    WHATSAPP = "whatsapp"


class ChannelStatus(StrEnum):
    """State of a channel."""

    ACTIVE = "active"
    ERROR = "error"  # it has to be reconnected
    OPTED_OUT = "opted_out"  # the person wants no messages
    DISCONNECTED = "disconnected"


class RuleType(StrEnum):
    """What a filter rule compares."""

    SENDER = "sender"
    SUBJECT = "subject"


class NotificationKind(StrEnum):
    """What a notification is about."""

    MAIL = "mail"
    SUMMARY = "summary"
    NOTICE = "notice"  # an inbox that is no longer watched


class NotificationStatus(StrEnum):
    """What became of a notification."""

    PENDING = "pending"
    BATCHED = "batched"  # a summary that is not sent yet tells of it
    SENT = "sent"
    DELIVERED = "delivered"
    FAILED = "failed"  # tried again at next_attempt_at, if that is set
    UNKNOWN = "unknown"  # the channel may have received it


@dataclass(frozen=True, slots=True)
class InboxUser(Value):
    """A person whose inboxes are watched."""

    id: UUID
    email: str
    """Address of the person, unique in the project."""
    notifications_paused: bool
    """Whether the person is notified of nothing."""
    paused_until: datetime | None
    """Time until which that is so by a button in Slack; null: no button was pressed."""
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class InboxInvitation(Value):
    """A link by which an inbox user sets a password and logs in."""

    email: str
    """Address of the person."""
    expires_at: datetime
    """Time from which the link does not work."""
    url: str | None
    """The link, which works once; null where it was mailed."""
    email_id: UUID | None
    """The mail that has the link; null where the link is in the answer."""


@dataclass(frozen=True, slots=True)
class Inbox(Value):
    """A watched inbox."""

    id: UUID
    user_id: UUID
    """The person whose inbox it is."""
    provider: InboxProvider
    email_address: str
    status: InboxStatus
    host: str
    """Host of its server."""
    port: int
    tls: str
    """`implicit`, `starttls` or `none`."""
    username: str
    folders: Sequence[str]
    """Folders whose new mail is reported; at Gmail ids of labels."""
    webmail_url: str | None
    """Page that notifications link to; `{message_id}` in it is replaced."""
    scan_seconds: int
    """Seconds between two scans."""
    last_scanned_at: datetime | None
    """Time of the last scan that succeeded."""
    next_scan_at: datetime | None
    """Time of the next scan; null while paused or in error."""
    is_listening: bool
    """Whether a connection waits for new mail, which is then scanned at once (IMAP IDLE)."""
    last_error: str | None
    """Why the last scan failed, or why it is not scanned."""
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class InboxConsent(Value):
    """Where the owner of an inbox consents to its being watched."""

    consent_url: str
    """Page of the provider to open in the owner's browser; it works once."""
    expires_at: datetime
    """Time from which the answer is not accepted."""


@dataclass(frozen=True, slots=True)
class NotificationChannel(Value):
    """Where the notifications of a person go."""

    id: UUID
    user_id: UUID
    """The person who is notified."""
    channel_type: ChannelType
    status: ChannelStatus
    slack_channel_id: str | None
    """Channel or person in Slack."""
    workspace: str | None
    """Team in Slack, whose rate its channels share."""
    phone_number: str | None
    """Number of the person in WhatsApp."""
    twilio_sid: str | None
    """Account at Twilio."""
    sender_number: str | None
    """Number that messages are sent from."""
    template_sid: str | None
    """Content template for messages to a person who has not replied within 24 hours."""
    consent_given_at: datetime | None
    """Time at which the person consented to messages."""
    consent_source: str | None
    """Where the person consented; `reply`: by a message."""
    consent_withdrawn_at: datetime | None
    """Time at which the person opted out."""
    window_until: datetime | None
    """Until when free text may be sent after a reply."""
    last_error: str | None
    """Why it is in error, or why the person is opted out."""
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class SlackInstallLink(Value):
    """Where a person installs the Slack app, once."""

    url: str
    """Page of Slack, for the person alone: notifications go to who installs the app there."""
    expires_at: datetime
    """Time by which the installation has to end."""


@dataclass(frozen=True, slots=True)
class FilterRule(Value):
    """Which mail a person is notified of; without an active rule, of all."""

    id: UUID
    user_id: UUID
    """The person whose mail it filters."""
    rule_type: RuleType
    pattern: str
    """Address or domain of senders, or a word or phrase of the subject."""
    is_active: bool
    priority: int
    """Order of evaluation, the lowest first."""
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class MutedSender(Value):
    """A sender whose mail a person is not notified of, whatever the filter rules are."""

    id: UUID
    user_id: UUID
    """The person who is not notified."""
    sender_address: str
    """Address of the sender, in lower case."""
    created_at: datetime


@dataclass(frozen=True, slots=True)
class FilterRuleTrial(Value):
    """Whether a sample matches a pattern; nothing was kept."""

    is_match: bool


@dataclass(frozen=True, slots=True)
class Notification(Value):
    """A message about new mail, and what became of it."""

    id: UUID
    user_id: UUID
    """The person who is notified."""
    email_account_id: UUID
    """The inbox that the mail came to."""
    notification_channel_id: UUID
    """The channel that it goes to."""
    kind: NotificationKind
    summary_id: UUID | None
    """The notification that tells of this mail with others."""
    rule_id: UUID | None
    """The filter rule that the mail matched."""
    sender_name: str
    sender_address: str
    subject: str
    preview: str
    """Beginning of the text of the mail, at most 150 characters."""
    delivery_status: NotificationStatus
    external_message_id: str | None
    """Id that the provider gave the message."""
    retry_count: int
    last_error: str | None
    """Why the last attempt failed."""
    email_received_at: datetime
    """Time at which the mail arrived, by its server."""
    delivered_at: datetime | None
    """Time at which the provider confirmed it."""
    next_attempt_at: datetime | None
    """Earliest time of the next attempt."""
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class NotificationRetry(Value):
    """How many notifications are delivered again."""

    notifications: int
