"""Test a sender account: connect, and send one mail on request."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from mailqueue.core.address import Address, Mailbox, parse_address
from mailqueue.core.errors import Conflict, InvalidField
from mailqueue.core.secret import Secret
from mailqueue.core.verdict import Accepted, Rejected, Verdict
from mailqueue.mime.compose import PerMail, compose, message_id
from mailqueue.mime.skeleton import MessageContent, compile_skeleton
from mailqueue.ports.transport import Envelope, SendAttempt, Transport
from mailqueue.senders.model import SenderAccount
from mailqueue.smtp.client.transcript import Transcript

_SUBJECT = "Test mail from mailqueue"
_TEXT = (
    "This email was sent to test the sender account {name}.\nIf you read it, the account works.\n"
)


OpenTransport = Callable[[SenderAccount, Secret | None, Transcript], Transport]
"""Return the transport of a sender account with its password decrypted; log to the transcript."""


def no_account(
    account: SenderAccount,
    password: Secret | None,  # noqa: ARG001
    transcript: Transcript,  # noqa: ARG001
) -> Transport:
    """Raise: no account can be tested."""
    raise Conflict(f"sender account {account.name} cannot be tested by this process")


@dataclass(frozen=True, slots=True)
class SenderTestResult:
    """Result of a test; `verdict` is None where the account connected and no mail was sent."""

    verdict: Verdict | None
    connect_ms: int
    send_ms: int | None = None

    @property
    def is_ok(self) -> bool:
        return self.verdict is None or isinstance(self.verdict, Accepted)


async def try_out(transport: Transport, mail: SendAttempt | None = None) -> SenderTestResult:
    """Connect, encrypt and log in, and send the mail if one is given."""
    begun = time.monotonic()
    channel = await transport.open()
    connect_ms = round((time.monotonic() - begun) * 1000)
    if isinstance(channel, Rejected):
        return SenderTestResult(channel, connect_ms)
    reports: list[tuple[Verdict, int]] = []
    try:
        if mail is None:
            return SenderTestResult(None, connect_ms)
        await channel.send(
            [mail],
            lambda _mail, verdict, took_ms: reports.append((verdict, took_ms)),
            may_finish=lambda: True,
        )
    finally:
        await channel.close()
    [(verdict, send_ms)] = reports
    return SenderTestResult(verdict, connect_ms, send_ms)


def trial_mail(
    account: SenderAccount, recipient: Address, *, email_id: UUID, now: datetime
) -> SendAttempt:
    """Build the mail that tests an account. Pure.

    Raises:
        InvalidField: the account has no address to send from.
    """
    if account.email is None:
        raise InvalidField("from", f"sender account {account.name} has no address to send from")
    sender = parse_address(account.email)
    content = MessageContent(subject=_SUBJECT, html=None, text=_TEXT.format(name=account.name))
    message = compose(
        compile_skeleton(content),
        PerMail(
            sender=Mailbox(account.display_name or "", sender),
            to=(Mailbox("", recipient),),
            written_at=now,
            message_id=message_id(email_id, sender.domain),
        ),
    )
    envelope = Envelope(
        sender=sender.sent,
        recipients=(recipient.sent,),
        needs_smtputf8=sender.needs_smtputf8 or recipient.needs_smtputf8,
    )
    return SendAttempt(email_id, envelope, message)
