"""The interface for reading new mail of an inbox. Values and a Protocol."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

from mailqueue.core.secret import Secret


class MailboxTls(StrEnum):
    """When a connection is secured; a failed handshake never falls back to plain text."""

    IMPLICIT = "implicit"
    STARTTLS = "starttls"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class MailboxAccess:
    """Where an inbox is and how it is logged in to."""

    host: str
    port: int
    tls: MailboxTls
    username: str
    password: Secret
    folders: Sequence[str]
    push_asked_at: datetime | None = None
    """When its server was last asked to push; None: never."""


@dataclass(frozen=True, slots=True)
class FolderCursor:
    """How far a folder was read: UIDs below `next_uid` are known, while `validity` is the same."""

    validity: int
    next_uid: int


Cursors = Mapping[str, FolderCursor]


@dataclass(frozen=True, slots=True)
class NewMail:
    """A message that was added to a folder; `octets` are its first kilobytes."""

    folder: str
    validity: int
    uid: int
    received_at: datetime
    octets: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class MailboxScan:
    """What was added to the folders since the cursors; `has_more`: the next scan goes on.

    `push_asked_at` is set where this scan has asked the server to push.
    """

    cursors: Cursors
    mails: Sequence[NewMail] = ()
    has_more: bool = False
    push_asked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ScanFault:
    """Why an inbox could not be read; `is_refusal`: its owner has to mend it.

    `wait` is set where the server asked for a pause, which counts as no attempt.
    """

    reason: str
    is_refusal: bool
    wait: timedelta | None = None


class MailboxReader(Protocol):
    """Reads what was added to the folders of an inbox, and changes nothing in it."""

    async def scan(
        self, access: MailboxAccess, cursors: Cursors, *, since: datetime | None
    ) -> MailboxScan | ScanFault:
        """Return what arrived after the cursors; mail that is older than `since` was moved.

        A folder without a cursor is not read, and has one afterwards. Never raises.
        """
        ...

    def close(self) -> None:
        """Release everything."""
        ...


@dataclass(frozen=True, slots=True)
class ConsentedInbox:
    """An inbox whose owner consented to its being read, and the token that this takes."""

    address: str
    refresh_token: Secret


class InboxConsents(Protocol):
    """Asks the owners of inboxes for their consent at a provider (OAuth 2.0 with PKCE)."""

    def url(self, state: str, *, back: str, address: str) -> str:
        """Return the page where the owner of an address consents, which leads to `back`."""
        ...

    async def redeem(self, code: str, state: str, *, back: str) -> ConsentedInbox:
        """Return the inbox that a code gives access to.

        Raises:
            Unauthorized: the code is not valid, or the consent is not to all that was asked for.
            Unavailable: the provider does not answer.
        """
        ...

    async def revoke(self, token: Secret) -> str | None:
        """End the consent that a refresh token is of; return why that failed, or None."""
        ...


class InboxPushes(Protocol):
    """Reads what a provider pushes when an inbox has changed."""

    async def address(self, authorization: str, body: bytes) -> str | None:
        """Return the address of the inbox; None if the push names none.

        Raises:
            Unauthorized: the header does not prove that the provider sent it.
            Unavailable: the provider's keys cannot be fetched now.
        """
        ...


@dataclass(frozen=True, slots=True)
class HearingEnd:
    """Why a connection that waited for new mail ended.

    `is_refusal`: its owner has to mend something. Without `has_idle` the server cannot tell.
    """

    reason: str
    is_refusal: bool = False
    has_idle: bool = True


class MailboxHearing(Protocol):
    """Waits for new mail of an inbox on an open connection, and reads none."""

    async def hear(
        self,
        access: MailboxAccess,
        *,
        ready: Callable[[], Awaitable[None]],
        arrived: Callable[[], None],
    ) -> HearingEnd:
        """Listen until the connection ends; call `ready` once, and `arrived` for what is new.

        Never raises.
        """
        ...
