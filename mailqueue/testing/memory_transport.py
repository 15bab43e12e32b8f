"""A transport that keeps messages in memory and accepts them all."""

from collections.abc import Callable, Sequence
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import NamedTuple
from uuid import UUID

from mailqueue.core.verdict import Accepted
from mailqueue.ports.transport import Report, SendAttempt

_ACCEPTED = Accepted("250", "kept by mailqueue.testing")


class SentEmail(NamedTuple):
    """One email as a server would have received it."""

    id: UUID
    account: str
    """Name of the sender account."""
    sender: str
    """Of the envelope."""
    recipients: tuple[str, ...]
    """Of the envelope: To, Cc and Bcc."""
    raw: bytes
    """The message; lines end with CRLF."""

    @property
    def message(self) -> EmailMessage:
        """Return the parsed message."""
        return message_from_bytes(self.raw, policy=policy.default)

    @property
    def subject(self) -> str:
        """Return the subject, decoded."""
        return str(self.message["Subject"])

    @property
    def text(self) -> str | None:
        """Return the text body; None if there is none."""
        return self._body("plain")

    @property
    def html(self) -> str | None:
        """Return the HTML body; None if there is none."""
        return self._body("html")

    def _body(self, kind: str) -> str | None:
        part = self.message.get_body((kind,))
        return None if part is None else str(part.get_content())


class MemoryTransport:
    """Opens channels of one sender account that append to a list."""

    def __init__(self, account: str, sent: list[SentEmail]) -> None:
        self._account = account
        self._sent = sent

    async def open(self) -> "MemoryChannel":
        """Return a channel."""
        return MemoryChannel(self._account, self._sent)


class MemoryChannel:
    """A channel that appends every message to a list."""

    is_usable = True

    def __init__(self, account: str, sent: list[SentEmail]) -> None:
        self._account = account
        self._sent = sent

    async def send(
        self, mails: Sequence[SendAttempt], report: Report, *, may_finish: Callable[[], bool]
    ) -> None:
        """Keep messages and report each as accepted.

        `may_finish` is false only after the worker was declared lost, which is not of interest
        where nothing leaves the process.
        """
        for mail in mails:
            may_finish()
            envelope = mail.envelope
            self._sent.append(
                SentEmail(
                    mail.email_id,
                    self._account,
                    envelope.sender,
                    envelope.recipients,
                    mail.message,
                )
            )
            report(mail, _ACCEPTED, 0)

    async def close(self) -> None:
        """Do nothing."""
