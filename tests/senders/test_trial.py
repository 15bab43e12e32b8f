"""Testing an account: each result, and the test email."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email import message_from_bytes
from email.policy import default
from uuid import UUID

import pytest

from mailqueue.core.address import parse_address
from mailqueue.core.errors import InvalidField
from mailqueue.core.providers import Provider
from mailqueue.core.verdict import Accepted, Fault, Rejected, Stage, Verdict
from mailqueue.ports.transport import Report, SendAttempt
from mailqueue.senders.model import SenderAccount, SenderStatus, Tls
from mailqueue.senders.trial import trial_mail, try_out

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
REFUSED = Rejected(Fault.ACCOUNT, "535", "authentication failed", Stage.CONNECT)
ACCOUNT = SenderAccount(
    id=1,
    public_id=UUID(int=2),
    project_id=UUID(int=1),
    project="default",
    name="relay",
    provider=Provider.SMTP,
    email="ann@example.com",
    display_name="Ann, A.",
    smtp_host="relay.example.com",
    smtp_port=25,
    smtp_username=None,
    smtp_password=None,
    smtp_tls=Tls.NONE,
    is_private_ok=False,
    priority=100,
    daily_limit=None,
    rate_per_second=None,
    burst=200,
    batch_size=200,
    send_delay_ms=0,
    max_connections=4,
    time_zone="UTC",
    warm_up=None,
    status=SenderStatus.ACTIVE,
    status_reason=None,
    status_until=None,
    revision=1,
    notes=None,
    created_at=NOW,
    updated_at=NOW,
)


@dataclass
class FakeChannel:
    """A channel that gives one verdict to each mail."""

    verdict: Verdict
    sent: list[SendAttempt] = field(default_factory=list)
    is_usable: bool = True

    async def send(
        self, mails: Sequence[SendAttempt], report: Report, *, may_finish: Callable[[], bool]
    ) -> None:
        for mail in mails:
            assert may_finish()
            self.sent.append(mail)
            report(mail, self.verdict, 7)

    async def close(self) -> None:
        self.is_usable = False


@dataclass
class FakeTransport:
    """A transport that opens a given channel, or is refused."""

    answer: FakeChannel | Rejected

    async def open(self) -> FakeChannel | Rejected:
        return self.answer


def a_mail() -> SendAttempt:
    return trial_mail(ACCOUNT, parse_address("bob@example.org"), email_id=UUID(int=5), now=NOW)


async def test_connecting_is_enough_when_no_mail_is_wanted() -> None:
    channel = FakeChannel(REFUSED)

    trial = await try_out(FakeTransport(channel))

    assert trial.is_ok
    assert trial.send_ms is None
    assert channel.sent == []
    assert not channel.is_usable


async def test_a_refused_connection_is_told() -> None:
    trial = await try_out(FakeTransport(REFUSED), a_mail())

    assert not trial.is_ok
    assert trial.verdict == REFUSED


async def test_a_mail_is_sent_and_its_verdict_told() -> None:
    channel = FakeChannel(Accepted("250", "queued"))

    trial = await try_out(FakeTransport(channel), a_mail())

    assert trial.is_ok
    assert trial.send_ms == 7
    assert channel.sent == [a_mail()]
    assert not channel.is_usable


async def test_a_refused_mail_is_told() -> None:
    refused = Rejected(Fault.PERMANENT_RECIPIENT, "550", "no such user", Stage.RCPT)

    trial = await try_out(FakeTransport(FakeChannel(refused)), a_mail())

    assert not trial.is_ok


async def test_the_mail_names_the_account_and_reads_right() -> None:
    mail = a_mail()
    message = message_from_bytes(mail.message, policy=default)

    assert mail.envelope.sender == "ann@example.com"
    assert mail.envelope.recipients == ("bob@example.org",)
    assert message["From"] == '"Ann, A." <ann@example.com>'
    assert message["To"] == "bob@example.org"
    assert "relay" in message.get_content()


async def test_an_account_without_an_address_cannot_send() -> None:
    nameless = replace(ACCOUNT, email=None)

    with pytest.raises(InvalidField, match="from: sender account relay has no address"):
        trial_mail(nameless, parse_address("bob@example.org"), email_id=UUID(int=5), now=NOW)
