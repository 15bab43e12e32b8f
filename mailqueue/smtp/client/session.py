"""Opens an SMTP session on a socket: greeting, EHLO, TLS and AUTH.

aiosmtplib runs the session until the server is ready for MAIL; `conversation.py` continues it.
"""

import asyncio
import base64
import re
import socket
import ssl
import time
from dataclasses import dataclass, replace
from enum import StrEnum
from ipaddress import ip_address
from typing import cast

import aiosmtplib

from mailqueue.core.conversation import ConversationRecord
from mailqueue.core.outbound_guard import is_public
from mailqueue.core.secret import Secret
from mailqueue.core.verdict import Fault, Rejected, Stage
from mailqueue.smtp.client.classify import OpeningStep, classify_opening
from mailqueue.smtp.client.conversation import Conversation
from mailqueue.smtp.client.envelope import Extensions
from mailqueue.smtp.client.record import OpeningRecord, opening_of, record_of
from mailqueue.smtp.client.replies import Reply
from mailqueue.smtp.client.timeouts import SmtpTimeouts
from mailqueue.smtp.client.transcript import (
    CLIENT,
    NOTE,
    RecordedSmtp,
    RecordedTransport,
    Transcript,
)

NO_EHLO = (500, 502, 504)
NO_PASSWORD = Secret("")


class TlsMode(StrEnum):
    """When a connection is secured; a failed TLS handshake never falls back to plain text."""

    NONE = "none"
    STARTTLS = "starttls"
    IMPLICIT = "implicit"


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """Options for opening a session; the certificate is checked against `host`."""

    host: str
    tls: TlsMode
    context: ssl.SSLContext | None  # None only without TLS
    username: str = ""
    password: Secret = NO_PASSWORD
    has_token: bool = False  # the password is an access token: AUTH XOAUTH2
    local_hostname: str = ""  # "": the address literal of the local end of the connection
    transcript: Transcript | None = None  # records the emails too


async def open_session(
    sock: socket.socket, login: SessionOptions, timeouts: SmtpTimeouts
) -> Conversation | Rejected:
    """Return a conversation that is ready for MAIL, or why the session cannot be opened.

    Takes ownership of the socket. Rejected never contains the user name, the password or their
    encodings.
    """
    if login.username and login.tls is TlsMode.NONE and _leaves_the_house(sock):
        sock.close()
        return _rejected(Fault.ACCOUNT, "a password is not sent over the internet without TLS")
    opening = _Opening(sock, login, timeouts)
    try:
        refused = await opening.run()
    except (aiosmtplib.SMTPException, OSError, ValueError) as error:
        refused = _why(error, opening.step)
    except asyncio.CancelledError:
        opening.abandon()
        raise
    if refused is not None:
        opening.abandon()
        refused = _without_secrets(refused, login)
        return replace(refused, conversation=opening.record_of_refusal(refused))
    return opening.hand_over()


class _Opening:
    """The opening of one session, and the current step of it."""

    def __init__(self, sock: socket.socket, login: SessionOptions, timeouts: SmtpTimeouts) -> None:
        self.step = OpeningStep.GREETING
        self._sock = sock
        self._login = login
        self._timeouts = timeouts
        self._smtp: aiosmtplib.SMTP | None = None
        self._transcript = Transcript() if login.transcript is None else login.transcript
        self._first_line = len(self._transcript.lines)
        self._began, self._began_monotonic = asyncio.get_running_loop().time(), time.monotonic()

    async def run(self) -> Rejected | None:
        login, transcript = self._login, self._transcript
        self._smtp = smtp = RecordedSmtp(
            transcript,
            sock=self._sock,
            hostname=login.host,
            use_tls=login.tls is TlsMode.IMPLICIT,
            start_tls=False,
            tls_context=login.context,
            local_hostname=login.local_hostname or _address_literal(self._sock),
            timeout=self._timeouts.command_s,
        )
        greeting = await smtp.connect()
        transcript.hide(_echoes(login))
        if login.tls is TlsMode.IMPLICIT:
            self._note_tls(smtp)
        transcript.add_reply(greeting)
        await self._hello(smtp)
        if login.tls is TlsMode.STARTTLS:
            self.step = OpeningStep.STARTTLS
            if not smtp.supports_extension("starttls"):
                return _rejected(Fault.ACCOUNT, "the server does not offer STARTTLS")
            answer = await smtp.starttls()  # discards what was received before TLS
            transcript.add(CLIENT, "STARTTLS")
            transcript.add_reply(answer)
            self._note_tls(smtp)
            await self._hello(smtp)
        if login.username:
            self.step = OpeningStep.AUTH
            return await _authenticate(smtp, login)
        return None

    async def _hello(self, smtp: aiosmtplib.SMTP) -> None:
        self.step = OpeningStep.HELLO
        try:
            await smtp.ehlo()
        except aiosmtplib.SMTPHeloError as error:
            needs_extension = self._login.username or self._login.tls is TlsMode.STARTTLS
            if error.code not in NO_EHLO or needs_extension:
                raise
            await smtp.helo()

    def hand_over(self) -> Conversation | Rejected:
        smtp = self._smtp
        if smtp is None or smtp.transport is None or smtp.transport.is_closing():
            self.abandon()
            return _rejected(Fault.TRANSIENT, "the server closed the connection")
        transport = cast(asyncio.Transport, smtp.transport)
        if self._login.transcript is not None:
            transport = RecordedTransport(transport, self._login.transcript)
        offered = _offered(smtp.esmtp_extensions)
        return Conversation(transport, offered, self._timeouts, opening=self._record())

    def _note_tls(self, smtp: aiosmtplib.SMTP) -> None:
        """Record the protocol and the cipher of the connection."""
        found = smtp.transport.get_extra_info("ssl_object") if smtp.transport else None
        if found is not None and (cipher := found.cipher()) is not None:
            self._transcript.add(NOTE, f"{found.version()}, {cipher[0]}")

    def record_of_refusal(self, refused: Rejected) -> ConversationRecord:
        """Return the record of a session that was not opened."""
        why = f"{refused.code} {refused.detail}".strip()
        now = asyncio.get_running_loop().time()
        return record_of(self._record(), (), ended=now, why=why)

    def _record(self) -> OpeningRecord:
        lines = self._transcript.since(self._first_line, self._began_monotonic)
        return opening_of(lines, began=self._began, hidden=_echoes(self._login))

    def abandon(self) -> None:
        transport = self._smtp.transport if self._smtp is not None else None
        if self._smtp is not None:
            self._smtp.close()
        if transport is None:
            self._sock.close()
        else:  # no isinstance(): uvloop's transports do not inherit from asyncio's
            cast(asyncio.WriteTransport, transport).abort()


async def _authenticate(smtp: aiosmtplib.SMTP, login: SessionOptions) -> Rejected | None:
    """Log in with the first mechanism that both sides support; a refusal is not retried."""
    mechanisms = smtp.server_auth_methods
    if login.has_token:
        if "xoauth2" not in mechanisms:
            return _rejected(Fault.ACCOUNT, "the server does not offer AUTH XOAUTH2")
        await smtp.auth_xoauth2(login.username, login.password.reveal())
    elif "plain" in mechanisms:
        await smtp.auth_plain(login.username, login.password.reveal())
    elif "login" in mechanisms:
        await smtp.auth_login(login.username, login.password.reveal())
    else:
        return _rejected(Fault.ACCOUNT, "the server offers neither AUTH PLAIN nor AUTH LOGIN")
    return None


def _offered(extensions: dict[str, str]) -> Extensions:
    """Return the extensions of the EHLO reply; a SIZE that is not a number means no limit."""
    limit = extensions.get("size", "").strip()
    return Extensions(
        pipelining="pipelining" in extensions,
        size="size" in extensions,
        max_bytes=int(limit) if re.fullmatch(r"[0-9]{1,18}", limit) else 0,
        eight_bit="8bitmime" in extensions,
        smtputf8="smtputf8" in extensions,
    )


def _why(error: Exception, step: OpeningStep) -> Rejected:
    """Translate what aiosmtplib or the socket raised."""
    if isinstance(error, aiosmtplib.SMTPResponseException):
        if not 400 <= error.code <= 599:
            return _rejected(Fault.TRANSIENT, f"the server sent an invalid reply ({step})")
        reply = Reply(error.code, error.message.encode("utf-8", "replace"))
        return classify_opening(step, reply.code, reply.enhanced(), reply.detail())
    for cause in (error, error.__cause__):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return _rejected(
                Fault.ACCOUNT,
                f"the server's certificate is not valid: {cause.verify_message}",
            )
        if isinstance(cause, ssl.SSLError):
            reason = (cause.reason or "handshake failed").replace("_", " ").lower()
            return _rejected(Fault.TRANSIENT, f"TLS failed: {reason}")
    if isinstance(error, TimeoutError):
        return _rejected(Fault.TRANSIENT, f"no answer in time ({step})")
    if isinstance(error, ValueError):
        return _rejected(Fault.ACCOUNT, "the host or local host name cannot be used")
    return _rejected(Fault.TRANSIENT, f"the connection broke ({step})")


def _without_secrets(refused: Rejected, login: SessionOptions) -> Rejected:
    """Redact the credentials that a server repeated in its reply."""
    detail = refused.detail
    for secret in sorted((*_echoes(login), login.username), key=len, reverse=True):
        detail = detail.replace(secret, "***") if secret else detail
    if detail == refused.detail:
        return refused
    return Rejected(refused.kind, refused.code, detail, refused.stage, refused.enhanced)


def _echoes(login: SessionOptions) -> list[str]:
    """Return the password and every encoding of it or of the user name that a server may repeat."""
    username, password = login.username, login.password.reveal()
    token = f"user={username}\x01auth=Bearer {password}\x01\x01"
    encoded = (f"\0{username}\0{password}", token, username, password)
    echoed = [base64.b64encode(text.encode()).decode() for text in encoded if text]
    return [password, *echoed] if password else []


def _leaves_the_house(sock: socket.socket) -> bool:
    return is_public(ip_address(sock.getpeername()[0]))


def _address_literal(sock: socket.socket) -> str:
    """Return the local address as an address literal (RFC 5321 section 4.1.3)."""
    address = sock.getsockname()[0].partition("%")[0]
    return f"[IPv6:{address}]" if ":" in address else f"[{address}]"


def _rejected(kind: Fault, detail: str) -> Rejected:
    return Rejected(kind, "", detail, Stage.CONNECT)
