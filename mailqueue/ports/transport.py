"""What sending needs from outside: a channel that takes envelopes and bytes."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol
from uuid import UUID

from mailqueue.core.verdict import Rejected, Verdict


class Envelope(NamedTuple):
    """The sender and recipients the server is told, whatever the headers say.

    Addresses are validated, domains in A-label form. `needs_smtputf8` is true when a local part or
    a raw header is not ASCII.
    """

    sender: str
    recipients: tuple[str, ...]
    needs_smtputf8: bool = False


class Outgoing(NamedTuple):
    """One message ready for the wire: CRLF line ends, no dot-stuffing, lines to 998 octets.

    `category` and `tags` are words that providers count by and give back in their events.
    """

    email_id: UUID
    envelope: Envelope
    message: bytes
    category: str = ""
    tags: tuple[str, ...] = ()


Report = Callable[[Outgoing, Verdict, int], None]
"""Called exactly once a mail, in the order sent: the mail, its verdict, the milliseconds."""


class Channel(Protocol):
    """One open, authenticated connection (or HTTP client) of one sender account."""

    async def send(
        self, mails: Sequence[Outgoing], report: Report, *, may_finish: Callable[[], bool]
    ) -> None:
        """Send the mails in order and report each.

        `may_finish` is asked right before the bytes that make a server accept (the final dot, the
        POST); when it says no, the mail is reported TRANSIENT at the stage reached and nothing
        was sent. Mails behind a lost connection are reported TRANSIENT at stage CONNECT. Never
        raises for what a server does; after a failure `is_usable` is False.
        """
        ...

    @property
    def is_usable(self) -> bool:
        """Return whether another mail may be sent on this channel."""
        ...

    async def close(self) -> None:
        """Say goodbye and close; bounded in time, never raises."""
        ...


class Transport(Protocol):
    """Opens channels for one sender account."""

    async def open(self) -> Channel | Rejected:
        """Connect, secure and authenticate; a Rejected here concerns the account, not a mail."""
        ...
