"""IMAP IDLE (RFC 2177): one connection that waits until something arrives in an inbox.

It reads no mail: a scan does that, on a connection of its own. Tags are random, and others after
STARTTLS, so that what was sent before TLS answers no command.
"""

import asyncio
import base64
import contextlib
import re
import secrets
import ssl
from collections.abc import Awaitable, Callable
from ipaddress import ip_address

from mailqueue.adapters.http.model import NetworkPolicy
from mailqueue.adapters.mailboxes.folder_names import encoded
from mailqueue.core.outbound_guard import is_public
from mailqueue.core.verdict import Fault, Rejected
from mailqueue.ports.mailbox import HearingEnd, MailboxAccess, MailboxTls
from mailqueue.smtp.client.dial import dial
from mailqueue.smtp.client.trust import system_trust

CONNECT_SECONDS = 10.0
READ_SECONDS = 15.0
"""Time without a line of an answer after which a connection ends."""
ANSWER_SECONDS = 30.0
LOGIN_SECONDS = 60.0
"""Time for the whole answer to a command, and for all commands of a login, however many lines."""
IDLE_SECONDS = 540.0
"""Time after which IDLE is asked for anew: before the 29 minutes of RFC 2177, and before networks
forget a silent connection."""
MAX_LINE_BYTES = 64 * 1024
MAX_LINES = 10_000
"""Lines of a server between two commands."""
_ARRIVED = re.compile(rb"\* \d{1,10} (EXISTS|RECENT)\b", re.IGNORECASE)
_CAPABILITIES = frozenset({"AUTH=PLAIN", "SASL-IR", "IDLE"})
"""What is kept of what a server says that it has: those that are asked for, whatever it sends."""
_LITERAL = re.compile(rb"\{(\d{1,9})\}\r?\n$")


class _Ended(Exception):
    """The connection cannot be used."""

    def __init__(self, end: HearingEnd) -> None:
        super().__init__(end.reason)
        self.end = end


class ImapIdle:
    """See `ports.mailbox.MailboxHearing`."""

    def __init__(self, policy: NetworkPolicy, *, tls_context: ssl.SSLContext | None = None) -> None:
        """Prepare; `tls_context` None trusts what the system trusts, TLS 1.2 and later."""
        self._policy = policy
        self._tls_context = tls_context

    async def hear(
        self,
        access: MailboxAccess,
        *,
        ready: Callable[[], Awaitable[None]],
        arrived: Callable[[], None],
    ) -> HearingEnd:
        """Listen until the connection ends."""
        writer: asyncio.StreamWriter | None = None
        try:
            async with asyncio.timeout(CONNECT_SECONDS + READ_SECONDS):
                reader, writer = await self._opened(access)
            talk = _Talk(reader, writer)
            context = self._tls_context or await system_trust()
            async with asyncio.timeout(LOGIN_SECONDS):
                await talk.log_in(access, context)
            await talk.idle(access.folders[0], ready=ready, arrived=arrived)
        except _Ended as ended:
            return ended.end
        except ssl.SSLCertVerificationError as error:
            return HearingEnd(f"its certificate is not valid: {error.verify_message}")
        except TimeoutError:
            return HearingEnd("the server was too slow")
        except (OSError, EOFError, ValueError) as error:
            return HearingEnd(f"the connection broke or was not IMAP: {error}")
        finally:
            if writer is not None:
                writer.close()
                with contextlib.suppress(OSError, TimeoutError):
                    writer.transport.abort()
        return HearingEnd("the connection ended")

    async def _opened(
        self, access: MailboxAccess
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        opened = await dial(
            access.host,
            access.port,
            allow_private=self._policy.allow_private,
            allowed=self._policy.allowed_networks,
            timeout_s=CONNECT_SECONDS,
        )
        if isinstance(opened, Rejected):
            raise _Ended(HearingEnd(opened.detail, is_refusal=opened.kind is Fault.ACCOUNT))
        try:
            if access.tls is MailboxTls.NONE and is_public(ip_address(opened.getpeername()[0])):
                why = "a password is not sent over the internet without TLS"
                raise _Ended(HearingEnd(why, is_refusal=True))
            is_tls = access.tls is MailboxTls.IMPLICIT
            context = (self._tls_context or await system_trust()) if is_tls else None
            return await asyncio.open_connection(
                sock=opened,
                ssl=context,
                server_hostname=access.host if is_tls else None,
                limit=MAX_LINE_BYTES,
            )
        except BaseException:
            opened.close()
            raise


class _Talk:
    """The dialogue of one connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._prefix = secrets.token_hex(4)
        self._count = 0
        self._lines = 0
        self._capabilities: set[str] = set()

    async def log_in(self, access: MailboxAccess, context: ssl.SSLContext) -> None:
        """Read the greeting, secure the connection, and log in."""
        greeting = await self._line(READ_SECONDS)
        if not greeting.upper().startswith(b"* OK"):
            raise _Ended(HearingEnd("the server did not greet as an IMAP server"))
        if access.tls is MailboxTls.STARTTLS:
            if not (await self._command("STARTTLS")).startswith("OK"):
                raise _Ended(HearingEnd("the server does not begin TLS"))
            await self._writer.start_tls(context, server_hostname=access.host)
            self._prefix, self._capabilities = secrets.token_hex(4), set()
        await self._command("CAPABILITY")
        secret = access.password.reveal()
        given = base64.b64encode(f"\0{access.username}\0{secret}".encode()).decode()
        if "AUTH=PLAIN" in self._capabilities and "SASL-IR" in self._capabilities:
            answer = await self._command(f"AUTHENTICATE PLAIN {given}")
        elif "AUTH=PLAIN" in self._capabilities:
            answer = await self._command("AUTHENTICATE PLAIN", then=given)
        elif not f"{access.username}{secret}".isascii():
            raise _Ended(HearingEnd("the server takes no name or password beyond ASCII", True))
        else:
            answer = await self._command(f"LOGIN {_quoted(access.username)} {_quoted(secret)}")
        if not answer.startswith("OK"):
            # RFC 5530; the words of the server may have the name.
            is_passing = any(word in answer for word in ("[UNAVAILABLE]", "[INUSE]", "[LIMIT]"))
            raise _Ended(HearingEnd("the server refused the login", is_refusal=not is_passing))
        self._capabilities = set()
        await self._command("CAPABILITY")
        if "IDLE" not in self._capabilities:
            raise _Ended(HearingEnd("the server has no IDLE", has_idle=False))

    async def idle(
        self,
        folder: str,
        *,
        ready: Callable[[], Awaitable[None]],
        arrived: Callable[[], None],
    ) -> None:
        """Wait in a folder until the connection ends."""
        if not (await self._command(f"EXAMINE {encoded(folder)}")).startswith("OK"):
            raise _Ended(HearingEnd(f"folder {folder} cannot be opened", is_refusal=True))
        is_first = True
        while True:
            tag = self._send("IDLE")
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._writer.drain()
                while not (line := await self._line(READ_SECONDS)).startswith(b"+"):
                    if line.startswith(tag.encode()):
                        raise _Ended(HearingEnd("the server has no IDLE", has_idle=False))
                    self._look_at(line, arrived)
            if is_first:
                await ready()
                is_first = False
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(IDLE_SECONDS):
                    while True:
                        self._look_at(await self._line(None), arrived)
            self._writer.write(b"DONE\r\n")
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._writer.drain()
                while not (line := await self._line(READ_SECONDS)).startswith(tag.encode()):
                    self._look_at(line, arrived)
            self._lines = 0

    def _look_at(self, line: bytes, arrived: Callable[[], None]) -> None:
        if line[:5].upper() == b"* BYE":
            raise _Ended(HearingEnd("the server ended the connection"))
        if _ARRIVED.match(line):
            arrived()

    def _send(self, words: str) -> str:
        self._count += 1
        tag = f"{self._prefix}{self._count}"
        self._writer.write(f"{tag} {words}\r\n".encode())
        return tag

    async def _command(self, words: str, *, then: str | None = None) -> str:
        """Return the tagged answer without its tag; `then` follows the server's `+`."""
        self._lines = 0
        tag = self._send(words)
        async with asyncio.timeout(ANSWER_SECONDS):
            return await self._answer(tag, then)

    async def _answer(self, tag: str, then: str | None) -> str:
        await self._writer.drain()
        while True:
            line = await self._line(READ_SECONDS)
            if line.startswith(b"+") and then is not None:
                self._writer.write(f"{then}\r\n".encode())
                await self._writer.drain()
                then = None
            elif line[:5].upper() == b"* BYE":
                raise _Ended(HearingEnd("the server ended the connection"))
            elif line[:13].upper() == b"* CAPABILITY ":
                named = line[13:].decode("latin-1").upper().split()
                self._capabilities |= _CAPABILITIES.intersection(named)
            elif line.startswith(f"{tag} ".encode()):
                return line[len(tag) + 1 :].decode("latin-1").strip().upper()

    async def _line(self, seconds: float | None) -> bytes:
        self._lines += 1
        if self._lines > MAX_LINES:
            raise _Ended(HearingEnd("the server sent too many lines"))
        async with asyncio.timeout(seconds):
            line = await self._reader.readline()
            found = _LITERAL.search(line)
            if found is not None:
                if int(found[1]) > MAX_LINE_BYTES:
                    raise _Ended(HearingEnd("the server sent more than was asked for"))
                await self._reader.readexactly(int(found[1]))
        if not line.endswith(b"\n"):
            raise _Ended(HearingEnd("the server ended the connection"))
        return line


def _quoted(text: str) -> str:
    if any(ord(one) < 32 or ord(one) == 127 for one in text):
        raise _Ended(HearingEnd("the server takes no such name or password", is_refusal=True))
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
