"""Mails that use every feature of a provider, and what was reported of them."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from email.message import EmailMessage
from uuid import UUID

from mailqueue.adapters.http.model import HttpTimeouts, NetworkPolicy
from mailqueue.adapters.sending.api import ProviderApi
from mailqueue.adapters.sending.http import HttpAccount, HttpChannel, HttpTransport
from mailqueue.core.address import parse_mailbox
from mailqueue.core.verdict import Rejected, Verdict
from mailqueue.mime.compose import PerMail, compose
from mailqueue.mime.skeleton import MessageContent, compile_skeleton
from mailqueue.ports.transport import Envelope, SendAttempt

ID = UUID("0190a000-0000-7000-8000-000000000001")
MESSAGE_ID = "<0190a000000070008000000000000001@example.com>"
WRITTEN_AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
PATIENT = HttpTimeouts(connect_s=20, read_s=20, call_s=20)
IMPATIENT = HttpTimeouts(connect_s=20, read_s=0.5, call_s=20)
IMAGE = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
DOCUMENT = b"%PDF-1.7\n" + bytes(range(256))


def mail(
    *recipients: str,
    number: int = 1,
    to: Sequence[str] = ('"Ann, A." <ann@example.org>',),
    cc: Sequence[str] = (),
    reply_to: Sequence[str] = (),
    sender: str = "Shop <shop@example.com>",
    subject: str = "Grüße",
    text: str | None = "Hallo\n",
    html: str | None = "<p>Hallo</p>\n",
    headers: Sequence[tuple[str, str]] = (),
    tags: tuple[str, ...] = (),
) -> SendAttempt:
    """Compose a mail as a worker does; without recipients it goes to those in To and Cc."""
    email_id = UUID(int=ID.int + number - 1)
    everyone = [parse_mailbox(one) for one in (*to, *cc)]
    message = compose(
        compile_skeleton(MessageContent(subject, html, text, tuple(headers))),
        PerMail(
            sender=parse_mailbox(sender),
            to=everyone[: len(to)],
            cc=everyone[len(to) :],
            reply_to=[parse_mailbox(one) for one in reply_to],
            written_at=WRITTEN_AT,
            message_id=f"<{email_id.hex}@example.com>",
        ),
    )
    envelope = recipients or tuple(one.address.sent for one in everyone)
    return SendAttempt(
        email_id,
        Envelope(parse_mailbox(sender).address.sent, envelope),
        message,
        "transactional",
        tags,
    )


def mails(count: int) -> list[SendAttempt]:
    return [mail(number=number, to=(f"n{number}@example.org",)) for number in range(1, count + 1)]


def with_files(*, extra_octets: int = 0) -> SendAttempt:
    """Return a mail with an inline image and an attachment, as another program writes it."""
    message = EmailMessage()
    message["From"] = "Shop <shop@example.com>"
    message["To"] = "Ann <ann@example.org>"
    message["Subject"] = "Your invoice"
    message["Message-ID"] = MESSAGE_ID
    message["X-Order"] = "81"
    message.set_content("See the file.\n")
    message.add_alternative('<img src="cid:logo">\n', subtype="html")
    html = message.get_payload()[1]  # type: ignore[index]
    html.add_related(IMAGE, "image", "png", cid="<logo>", filename="logo.png", disposition="inline")  # type: ignore[union-attr]
    message.add_attachment(DOCUMENT, "application", "pdf", filename="Rechnung für Ann.pdf")
    raw = message.as_bytes().replace(b"\n", b"\r\n")
    if extra_octets:
        start, end = raw.split(b'boundary="', 1)[1].split(b'"', 1)[0], raw.rstrip().rfind(b"\r\n--")
        part = b"\r\n--%b\r\nContent-Type: application/x-filler\r\n\r\n" % start
        raw = raw[:end] + part + (b"x" * 996 + b"\r\n") * (extra_octets // 998 + 1) + raw[end:]
    return SendAttempt(ID, Envelope("shop@example.com", ("ann@example.org",)), raw, "orders")


class Reports:
    """Collects what a channel reports, in order."""

    def __init__(self) -> None:
        self.ids: list[UUID] = []
        self.verdicts: list[Verdict] = []

    def __call__(self, mail: SendAttempt, verdict: Verdict, took_ms: int) -> None:
        assert took_ms >= 0
        self.ids.append(mail.email_id)
        self.verdicts.append(verdict)


@asynccontextmanager
async def channel_of(
    service: ProviderApi, *, timeouts: HttpTimeouts = PATIENT
) -> AsyncIterator[HttpChannel]:
    """Open a channel to a server on loopback."""
    transport = HttpTransport(service, HttpAccount(NetworkPolicy(allow_private=True), timeouts))
    channel = await transport.open()
    assert isinstance(channel, HttpChannel), channel
    try:
        yield channel
    finally:
        await channel.close()


async def sent(
    channel: HttpChannel,
    batch: Sequence[SendAttempt],
    *,
    may_finish: Callable[[], bool] = lambda: True,
) -> list[Verdict]:
    """Send the mails; check that each was reported once and in order."""
    reports = Reports()
    await channel.send(batch, reports, may_finish=may_finish)
    assert reports.ids == [mail.email_id for mail in batch]
    return reports.verdicts


async def verdict_of(
    service: ProviderApi, one: SendAttempt, *, timeouts: HttpTimeouts = PATIENT
) -> Verdict:
    """Send one mail on its own channel."""
    async with channel_of(service, timeouts=timeouts) as channel:
        return (await sent(channel, [one]))[0]


async def rejected(
    service: ProviderApi, one: SendAttempt, *, timeouts: HttpTimeouts = PATIENT
) -> Rejected:
    """Send one mail that the provider refuses."""
    verdict = await verdict_of(service, one, timeouts=timeouts)
    assert isinstance(verdict, Rejected), verdict
    return verdict
