"""An independent server, to judge TLS and logins, and accounts that lead to it."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from mailqueue.adapters.sending.smtp import SmtpAccount, SmtpTransport
from mailqueue.core.secret import Secret
from mailqueue.core.verdict import Rejected, Stage
from mailqueue.smtp.client.session import TlsMode
from mailqueue.smtp.client.timeouts import SmtpTimeouts
from tests.smtp.client.sending import PATIENT

PASSWORD = "correct horse"


class ReceivedMail:
    """What the server received."""

    def __init__(self) -> None:
        self.messages: list[tuple[str | None, list[str], bytes]] = []

    async def handle_DATA(self, _: SMTP, __: Session, envelope: Envelope) -> str:  # noqa: N802
        content = envelope.content
        assert isinstance(content, bytes)
        self.messages.append((envelope.mail_from, envelope.rcpt_tos, content))
        return "250 2.0.0 taken"


@asynccontextmanager
async def judge(
    mailbox: ReceivedMail,
    *,
    starttls: ssl.SSLContext | None = None,
    implicit: ssl.SSLContext | None = None,
    auth: bool = False,
    without: tuple[str, ...] = (),
) -> AsyncIterator[int]:
    """Run aiosmtpd on a free loopback port."""

    def check(_: object, __: object, ___: object, mechanism: str, data: object) -> AuthResult:
        assert isinstance(data, LoginPassword)
        good = (data.login, data.password) == (b"ann", PASSWORD.encode())
        return AuthResult(success=good, handled=False)

    def protocol() -> SMTP:
        return SMTP(
            mailbox,
            hostname="mx.example.com",
            tls_context=starttls,
            require_starttls=starttls is not None,
            auth_required=auth,
            auth_require_tls=starttls is not None,
            authenticator=check if auth else None,
            auth_exclude_mechanism=without,
            enable_SMTPUTF8=True,
        )

    server = await asyncio.get_running_loop().create_server(protocol, "127.0.0.1", 0, ssl=implicit)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


def account(
    port: int,
    tls: TlsMode,
    *,
    host: str = "127.0.0.1",
    user: str = "",
    password: str = PASSWORD,
    timeouts: SmtpTimeouts = PATIENT,
) -> SmtpAccount:
    return SmtpAccount(
        host,
        port,
        tls,
        username=user,
        password=Secret(password),
        allow_private=True,
        timeouts=timeouts,
    )


async def refused(transport: SmtpTransport) -> Rejected:
    opened = await transport.open()
    assert isinstance(opened, Rejected), opened
    assert opened.stage is Stage.CONNECT
    return opened
