"""Sends by SMTP: opens channels to one server for one sender account."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from mailqueue.adapters.sending.oauth import Tokens
from mailqueue.core.outbound_guard import IpNetwork
from mailqueue.core.secret import Secret
from mailqueue.core.verdict import Fault, Rejected
from mailqueue.ports.transport import Report, SendAttempt
from mailqueue.smtp.client.conversation import Conversation
from mailqueue.smtp.client.dial import dial
from mailqueue.smtp.client.session import NO_PASSWORD, SessionOptions, TlsMode, open_session
from mailqueue.smtp.client.timeouts import DEFAULT_TIMEOUTS, SmtpTimeouts
from mailqueue.smtp.client.transcript import Transcript
from mailqueue.smtp.client.trust import system_trust


@dataclass(frozen=True, slots=True)
class SmtpAccount:
    """Connection settings of one sender account with an SMTP server.

    `allow_private` is for accounts that the operator added; `allowed_networks` permits the others
    private addresses of the operator's choice. `max_messages` limits the messages per connection;
    None is no limit.
    """

    host: str
    port: int
    tls: TlsMode = TlsMode.STARTTLS
    username: str = ""
    password: Secret = NO_PASSWORD
    tokens: Tokens | None = None  # to log in with AUTH XOAUTH2 instead of a password
    local_hostname: str = ""
    allow_private: bool = False
    allowed_networks: tuple[IpNetwork, ...] = ()
    max_messages: int | None = 100  # at least 1
    max_age: timedelta = timedelta(seconds=300)
    timeouts: SmtpTimeouts = DEFAULT_TIMEOUTS


class SmtpTransport:
    """Opens SMTP channels for one account; see `ports.transport.Transport`."""

    def __init__(
        self,
        account: SmtpAccount,
        *,
        tls_context: ssl.SSLContext | None = None,
        transcript: Transcript | None = None,
    ) -> None:
        """Prepare; `tls_context` None trusts the system's certificates, with TLS 1.2 and later.

        Commands and replies are recorded in `transcript` if one is passed.
        """
        self._account = account
        self._tls_context = tls_context
        self._transcript = transcript

    async def open(self) -> "SmtpChannel | Rejected":
        """Connect, start TLS and authenticate."""
        conversation = await self._open_conversation()
        if isinstance(conversation, Rejected):
            return conversation
        return SmtpChannel(conversation, self._account, reopen=self._open_conversation)

    async def _open_conversation(self) -> Conversation | Rejected:
        tokens = self._account.tokens
        if tokens is None:
            return await self._logged_in(self._account.password)
        token = await tokens.get()
        if isinstance(token, Rejected):
            return token
        opened = await self._logged_in(token)
        if isinstance(opened, Rejected) and opened.kind is Fault.ACCOUNT and opened.code:
            tokens.drop()  # possibly revoked early: try once with a new one
            token = await tokens.get()
            return token if isinstance(token, Rejected) else await self._logged_in(token)
        return opened

    async def _logged_in(self, password: Secret) -> Conversation | Rejected:
        account = self._account
        sock = await dial(
            account.host,
            account.port,
            allow_private=account.allow_private,
            allowed=account.allowed_networks,
            timeout_s=account.timeouts.connect_s,
        )
        if isinstance(sock, Rejected):
            return sock
        if self._tls_context is None and account.tls is not TlsMode.NONE:
            self._tls_context = await system_trust()
        login = SessionOptions(
            host=account.host.removesuffix("."),
            tls=account.tls,
            context=self._tls_context,
            username=account.username,
            password=password,
            has_token=account.tokens is not None,
            local_hostname=account.local_hostname,
            transcript=self._transcript,
        )
        return await open_session(sock, login, account.timeouts)


class SmtpChannel:
    """One connection at a time, replaced when the account's limit per connection is reached."""

    def __init__(
        self,
        conversation: Conversation,
        account: SmtpAccount,
        *,
        reopen: Callable[[], Awaitable[Conversation | Rejected]],
    ) -> None:
        self._conversation = conversation
        self._account = account
        self._reopen = reopen
        self._opened_at = asyncio.get_running_loop().time()
        self._left = account.max_messages  # None: no limit

    @property
    def is_usable(self) -> bool:
        """Return whether another email may be sent on this connection."""
        age_s = asyncio.get_running_loop().time() - self._opened_at
        is_young = age_s < self._account.max_age.total_seconds()
        return is_young and self._left != 0 and self._conversation.is_usable

    async def send(
        self, mails: Sequence[SendAttempt], report: Report, *, may_finish: Callable[[], bool]
    ) -> None:
        """Send the emails in order and report each; a long batch takes several connections."""
        start = 0
        while start < len(mails):
            refused = await self._renew() if self._left == 0 else None
            if refused is not None:
                for mail in mails[start:]:
                    report(mail, refused, 0)
                return
            part = mails[start:] if self._left is None else mails[start : start + self._left]
            if self._left is not None:
                self._left -= len(part)
            start += len(part)
            await self._conversation.send(part, report, may_finish=may_finish)

    async def close(self) -> None:
        """Send QUIT and close the connection."""
        await self._conversation.quit()

    async def _renew(self) -> Rejected | None:
        await self._conversation.quit()
        conversation = await self._reopen()
        if isinstance(conversation, Rejected):
            return conversation
        self._conversation = conversation
        self._opened_at = asyncio.get_running_loop().time()
        self._left = self._account.max_messages
        return None
