"""The interface between the send path and whatever carries mail: SMTP servers and provider APIs."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol
from uuid import UUID

from mailqueue.core.verdict import Rejected, Verdict


class Envelope(NamedTuple):
    """The SMTP sender and recipients of one message, independent of its headers.

    Addresses are validated and their domains are A-labels. `needs_smtputf8` is true when a local
    part or a raw header is not ASCII.
    """

    sender: str
    recipients: tuple[str, ...]
    needs_smtputf8: bool = False


class SendAttempt(NamedTuple):
    """One attempt to send one email: the message, and the values from which its outcome is made.

    `message` has CRLF line ends, no dot-stuffing and lines of at most 998 bytes. Providers return
    `category` and `tags` in their events. Transports read the fields up to `tags` only.
    """

    email_id: UUID
    envelope: Envelope
    message: bytes
    category: str = ""
    tags: tuple[str, ...] = ()
    claim_no: int = 0
    number: int = 1  # 1 for the first attempt
    message_id: str = ""
    addresses: tuple[str, ...] = ()  # the envelope's recipients as the database spells them
    has_several: bool = False  # each recipient has an outcome
    suppressed: tuple[str, ...] = ()  # recipients left out since the email was loaded


Report = Callable[[SendAttempt, Verdict, int], None]
"""Called exactly once per attempt, in order, with the attempt, its verdict and milliseconds."""


class Channel(Protocol):
    """An open, authenticated connection (or HTTP client) of one sender account."""

    async def send(
        self, mails: Sequence[SendAttempt], report: Report, *, may_finish: Callable[[], bool]
    ) -> None:
        """Send the attempts in order and report each.

        `may_finish` is called right before the bytes that make a server accept a message (the
        final dot, the POST). If it returns False the attempt is reported TRANSIENT at the stage
        reached, and nothing was sent. Attempts behind a lost connection are reported TRANSIENT at
        stage CONNECT. Never raises for what a server does; after a failure `is_usable` is False.
        An exception is an error of the program, or of `report`: attempts without a report are then
        of unknown outcome if `may_finish` has allowed any of them since the last report returned.
        """
        ...

    @property
    def is_usable(self) -> bool:
        """Return whether another attempt may be sent on this channel."""
        ...

    async def close(self) -> None:
        """End the session and close; bounded in time, never raises."""
        ...


class Transport(Protocol):
    """Opens channels for one sender account."""

    async def open(self) -> Channel | Rejected:
        """Connect, secure and authenticate; return a Rejected if the account cannot be used."""
        ...
