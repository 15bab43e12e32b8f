"""The interface for posting a notification to a channel. Values and a Protocol."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

from mailqueue.core.secret import Secret


@dataclass(frozen=True, slots=True)
class MailLine:
    """One of the mails that a summary tells of."""

    sender: str
    subject: str


@dataclass(frozen=True, slots=True)
class ChannelMessage:
    """What a notification says; `lines` are the first of the `mails` of a summary."""

    title: str
    sender: str
    preview: str
    inbox: str
    received_at: datetime
    link: str | None = None
    lines: Sequence[MailLine] = ()
    mails: int = 1


class PostResult(StrEnum):
    """What became of one attempt."""

    DELIVERED = "delivered"  # the provider confirmed it
    WAIT = "wait"  # not posted: the provider asks for a pause
    FAILED = "failed"  # not posted: the provider cannot now
    REFUSED = "refused"  # not posted: this message is not accepted
    CHANNEL = "channel"  # not posted: somebody has to mend the channel
    UNKNOWN = "unknown"  # it may have been posted


@dataclass(frozen=True, slots=True)
class ChannelAnswer:
    """The outcome of one attempt, with the provider's id of the message or the reason."""

    result: PostResult
    external_id: str | None = None
    reason: str | None = None
    wait: timedelta | None = None


class ChannelPoster(Protocol):
    """Posts messages to one kind of channel."""

    async def post(self, token: Secret, address: str, message: ChannelMessage) -> ChannelAnswer:
        """Post a message once; never raises."""
        ...

    def close(self) -> None:
        """Release everything."""
        ...
