"""Mails, a channel, and its reports, for tests of the SMTP client."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from uuid import UUID, uuid4

from mailqueue.adapters.sending.smtp import SmtpAccount, SmtpChannel, SmtpTransport
from mailqueue.core.verdict import Rejected, Verdict
from mailqueue.ports.transport import Envelope, SendAttempt
from mailqueue.smtp.client.session import TlsMode
from mailqueue.smtp.client.timeouts import SmtpTimeouts

BODY = b"From: a@example.org\r\nSubject: hi\r\n\r\nhello\r\n"
PATIENT = SmtpTimeouts(connect_s=20, command_s=20, block_s=20, dot_s=20, quit_s=1)


def mail(
    *recipients: str,
    body: bytes = BODY,
    sender: str = "bounce@example.org",
    needs_smtputf8: bool = False,
) -> SendAttempt:
    """Make one mail; without recipients it goes to `ann@example.com`."""
    envelope = Envelope(sender, recipients or ("ann@example.com",), needs_smtputf8)
    return SendAttempt(uuid4(), envelope, body)


def mails(count: int, body: bytes = BODY) -> list[SendAttempt]:
    """Make mails to `user0@example.com` and so on."""
    return [mail(f"user{number}@example.com", body=body) for number in range(count)]


class Reports:
    """Collects what a channel reports, in order."""

    def __init__(self) -> None:
        self.ids: list[UUID] = []
        self.verdicts: list[Verdict] = []

    def __call__(self, mail: SendAttempt, verdict: Verdict, took_ms: int) -> None:
        assert took_ms >= 0
        self.ids.append(mail.email_id)
        self.verdicts.append(verdict)

    @property
    def rejected(self) -> list[Rejected]:
        """Return the verdicts, all of which must be refusals of a whole mail."""
        found = [verdict for verdict in self.verdicts if isinstance(verdict, Rejected)]
        assert len(found) == len(self.verdicts)
        return found


def yes() -> bool:
    return True


async def send(
    channel: SmtpChannel, batch: Sequence[SendAttempt], *, may_finish: Callable[[], bool] = yes
) -> Reports:
    """Send the batch and check that each mail was reported once and in order."""
    reports = Reports()
    await channel.send(batch, reports, may_finish=may_finish)
    assert reports.ids == [mail.email_id for mail in batch]
    return reports


@asynccontextmanager
async def channel_to(
    port: int, *, timeouts: SmtpTimeouts = PATIENT, max_messages: int | None = None
) -> AsyncIterator[SmtpChannel]:
    """Open a channel to a server on loopback, without TLS."""
    account = SmtpAccount(
        "127.0.0.1",
        port,
        TlsMode.NONE,
        allow_private=True,
        max_messages=max_messages,
        timeouts=timeouts,
    )
    channel = await SmtpTransport(account).open()
    assert isinstance(channel, SmtpChannel), channel
    try:
        yield channel
    finally:
        await channel.close()
