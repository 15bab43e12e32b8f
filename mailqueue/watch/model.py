"""Claimed inboxes and notifications, and what was found and answered. Values only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from mailqueue.core.outcome import Outcome
from mailqueue.core.secret import Secret
from mailqueue.ports.channel import ChannelMessage
from mailqueue.ports.mailbox import MailboxAccess, MailboxScan
from mailqueue.watch.matching import ActiveRule


class MailboxRow(NamedTuple):
    """A row of mailboxes that is about to be scanned; `now` is the time of the database."""

    id: UUID
    project_id: UUID
    user_id: UUID
    provider: str
    host: str
    port: int
    tls: str
    username: str
    sealed_password: bytes
    folders: Sequence[str]
    cursor: Any
    scan_seconds: int
    refusals: int
    last_scanned_at: datetime | None
    push_asked_at: datetime | None
    created_at: datetime
    updated_at: datetime
    caught_up_at: datetime | None
    is_paused: bool
    now: datetime


@dataclass(frozen=True, slots=True)
class ScanPlan:
    """What a scan needs; `fault` says why the inbox cannot be scanned here."""

    mailbox: MailboxRow
    access: MailboxAccess | None
    rules: Sequence[ActiveRule] = ()
    fault: str | None = None


class ClaimedMailbox(NamedTuple):
    """A claimed row of mailboxes."""

    id: UUID
    claim_no: int
    project_id: UUID
    user_id: UUID
    attempts: int
    plan: ScanPlan | None = None


@dataclass(frozen=True, slots=True)
class Scanned:
    """What a scan found: mail as JSON for `record_scan`."""

    scan: MailboxScan
    mails: Sequence[Mapping[str, Any]]
    wait: timedelta
    caught_up: datetime | None
    """When it began, if it read all that was there."""


@dataclass(frozen=True, slots=True)
class GivenUp:
    """An inbox that its owner has to reconnect."""

    reason: str


class PendingConsent(NamedTuple):
    """What the owner of an inbox at Gmail was asked for."""

    project_id: UUID
    user_id: UUID
    email_address: str
    folders: Sequence[str]
    webmail_url: str | None
    scan_seconds: int


class SealedInboxToken(NamedTuple):
    """The sealed refresh token of an inbox, and the server it is bound to."""

    id: UUID
    host: str
    port: int
    sealed: bytes


class NotificationRow(NamedTuple):
    """A row of notifications that is about to be posted, with its channel."""

    id: UUID
    project_id: UUID
    kind: str
    sender_name: str
    sender_address: str
    subject: str
    preview: str
    email_received_at: datetime
    message_id: str | None
    channel_id: UUID
    channel_type: str
    slack_channel_id: str | None
    sealed_token: bytes | None
    revision: int
    email_address: str
    webmail_url: str | None
    phone_number: str | None = None
    twilio_sid: str | None = None
    sender_number: str | None = None
    template_sid: str | None = None
    is_open: bool = False
    is_of_app: bool = False
    has_signing_secret: bool = False


class SummaryLine(NamedTuple):
    """One of the first mails of a summary, and how many it has."""

    summary_id: UUID
    mails: int
    sender_name: str
    sender_address: str
    subject: str


@dataclass(frozen=True, slots=True)
class PostPlan:
    """What is posted where."""

    row: NotificationRow
    message: ChannelMessage
    token: Secret | None
    fault: str | None = None


class ClaimedNotification(NamedTuple):
    """A claimed row of notifications."""

    id: UUID
    claim_no: int
    project_id: UUID
    notification_channel_id: UUID
    attempts: int
    max_attempts: int
    plan: PostPlan | None = None


@dataclass(frozen=True, slots=True)
class PostedNotification:
    """The outcome of a notification that was posted, and what it means for its channel."""

    outcome: Outcome
    channel_id: UUID
    revision: int
    fault: str | None = None
    wait: timedelta | None = None
    is_failed: bool = False
    is_outside: bool = False
    opt_out: str | None = None
    """Why its person wants no messages."""
