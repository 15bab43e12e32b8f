"""The interface for posting a notification to a channel. Values and a Protocol."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from mailqueue.core.secret import Secret


@dataclass(frozen=True, slots=True)
class MailLine:
    """One of the mails that a summary tells of."""

    sender: str
    subject: str


class ChannelAction(StrEnum):
    """What a button below a message does."""

    MUTE_SENDER = "mute_sender"
    PAUSE_HOUR = "pause_hour"


@dataclass(frozen=True, slots=True)
class ButtonPress:
    """A button that a person pressed below the notification `reference`.

    `at` is the same where the provider repeats the request. Workspace, person, place and message
    are ids of the provider; answers for the person go to `reply_url`.
    """

    action: str
    reference: UUID
    workspace: str | None
    person: str
    place: str | None
    message: str | None
    at: datetime
    reply_url: str | None = None


@dataclass(frozen=True, slots=True)
class ChannelMessage:
    """What a notification says; `lines` are the first of the `mails` of a summary.

    It has buttons for `actions`, which name the notification `reference`.
    """

    title: str
    sender: str
    preview: str
    inbox: str
    received_at: datetime
    link: str | None = None
    lines: Sequence[MailLine] = ()
    mails: int = 1
    actions: Sequence[ChannelAction] = ()
    reference: str = ""


@dataclass(frozen=True, slots=True)
class ChannelAddress:
    """Where a message goes.

    `account`, `sender` and `template` are ids at the provider that some kinds of channels need.
    With `is_open` the person has replied lately, so that free text may be sent. The provider
    reports about the message to `callback`.
    """

    to: str
    account: str = ""
    sender: str = ""
    template: str = ""
    is_open: bool = False
    callback: str | None = None


class PostResult(StrEnum):
    """What became of one attempt, or of a message that a provider reports about."""

    DELIVERED = "delivered"  # the provider confirmed it
    SENT = "sent"  # the provider took it, and confirms it later
    WAIT = "wait"  # not posted: the provider asks for a pause
    FAILED = "failed"  # not posted: the provider cannot now
    REFUSED = "refused"  # not posted: this message is not accepted
    CHANNEL = "channel"  # not posted: somebody has to mend the channel
    OPTED_OUT = "opted_out"  # not posted: the person wants no messages
    OUTSIDE = "outside"  # not posted: free text needs a reply of the person first
    UNKNOWN = "unknown"  # it may have been posted


@dataclass(frozen=True, slots=True)
class ChannelAnswer:
    """The outcome of one attempt, with the provider's id of the message or the reason."""

    result: PostResult
    external_id: str | None = None
    reason: str | None = None
    wait: timedelta | None = None


@dataclass(frozen=True, slots=True)
class MessageReport:
    """What a provider reports of a message by its id: `word` is sent, delivered or failed."""

    message: str
    word: str
    meaning: PostResult
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class AppInstallation:
    """What a provider returned for an app that a person installed."""

    token: Secret
    workspace: str
    person: str


class InstalledApp(Protocol):
    """An app of a provider, which persons install in their workspaces."""

    def url_for(self, state: str, redirect_url: str) -> str:
        """Return the page of the provider where a person installs the app."""
        ...

    async def exchange(self, code: str, redirect_url: str) -> AppInstallation | str:
        """Return the installation that a code stands for, or why there is none; never raises."""
        ...


@dataclass(frozen=True, slots=True)
class PhoneSender:
    """The account and the sender at Twilio of the phones that persons connect themselves."""

    twilio_sid: str
    auth_token: Secret
    sender_number: str
    template_sid: str


class ReplyPoster(Protocol):
    """Answers persons who pressed a button."""

    async def reply(self, url: str, text: str) -> None:
        """Show a text to the person alone; an answer that fails is logged. Never raises."""
        ...


class ChannelPoster(Protocol):
    """Posts messages to one kind of channel."""

    async def post(
        self, token: Secret, address: ChannelAddress, message: ChannelMessage
    ) -> ChannelAnswer:
        """Post a message once; never raises."""
        ...

    def close(self) -> None:
        """Release everything."""
        ...
