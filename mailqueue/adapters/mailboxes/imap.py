"""New mail of an inbox by IMAP: one short connection for each scan.

The dialogue is that of imaplib, in a thread, on a socket that the outbound guard has opened. A scan
without new mail is one STATUS for each folder: UIDNEXT alone says whether mail was added, so that
CONDSTORE, which tells of changed flags, is not asked for: see docs/decisions/0095.
"""

import asyncio
import contextlib
import imaplib
import re
import socket
import ssl
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from ipaddress import ip_address

from mailqueue.adapters.http.model import NetworkPolicy
from mailqueue.adapters.mailboxes.folder_names import encoded
from mailqueue.core.outbound_guard import is_public
from mailqueue.core.verdict import Fault, Rejected
from mailqueue.ports.mailbox import (
    Cursors,
    FolderCursor,
    MailboxAccess,
    MailboxScan,
    MailboxTls,
    NewMail,
    ScanFault,
)
from mailqueue.smtp.client.dial import dial
from mailqueue.smtp.client.trust import system_trust

CONNECT_SECONDS = 10.0
READ_SECONDS = 15.0
"""Time without a byte of the server after which a scan ends."""
SCAN_SECONDS = 60.0
"""Limit of a whole scan."""
MAX_THREADS = 128
MAX_MAILS = 200
"""Messages of one scan; the next one goes on at once."""
MAIL_BYTES = 64 * 1024
"""Bytes read of a message: its headers and the beginning of its text."""
MAX_LITERAL_BYTES = 2 * MAIL_BYTES
MAX_LINES = 10_000
"""Lines of a server in one scan."""
BATCH_MAILS = 20
_REFUSED_USES = frozenset({r"\sent", r"\drafts", r"\junk", r"\trash"})
_NUMBERS = re.compile(rb"(UIDVALIDITY|UIDNEXT) (\d{1,10})\b")
_UID = re.compile(rb"\bUID (\d{1,10})\b")
_ARRIVAL = re.compile(rb'INTERNALDATE "([^"]{10,40})"')


class _Refused(Exception):
    """The owner of the inbox has to mend something."""


class _Dialogue(imaplib.IMAP4):
    """IMAP on a socket that is open, with limits on what the server may send."""

    def __init__(self, host: str, opened: socket.socket) -> None:
        self._opened = opened
        self._lines = 0
        super().__init__(host, timeout=READ_SECONDS)

    def _create_socket(self, timeout: float | None) -> socket.socket:  # noqa: ARG002
        return self._opened

    def read(self, size: int) -> bytes:
        if size > MAX_LITERAL_BYTES:
            raise self.abort("the server sent more than was asked for")
        return super().read(size)

    def readline(self) -> bytes:
        self._lines += 1
        if self._lines > MAX_LINES:
            raise self.abort("the server sent too many lines")
        return super().readline()


class ImapReader:
    """See `ports.mailbox.MailboxReader`."""

    def __init__(self, policy: NetworkPolicy, *, tls_context: ssl.SSLContext | None = None) -> None:
        """Prepare; `tls_context` None trusts what the system trusts, TLS 1.2 and later."""
        self._threads = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="imap")
        self._policy = policy
        self._tls_context = tls_context

    async def scan(
        self, access: MailboxAccess, cursors: Cursors, *, since: datetime | None
    ) -> MailboxScan | ScanFault:
        """Return what arrived after the cursors."""
        opened = await dial(
            access.host,
            access.port,
            allow_private=self._policy.allow_private,
            allowed=self._policy.allowed_networks,
            timeout_s=CONNECT_SECONDS,
            lookups=self._threads,
        )
        if isinstance(opened, Rejected):
            return ScanFault(opened.detail, is_refusal=opened.kind is Fault.ACCOUNT)
        guard = opened.dup()  # TLS takes the socket itself
        try:
            if access.tls is MailboxTls.NONE and is_public(ip_address(opened.getpeername()[0])):
                why = "a password is not sent over the internet without TLS"
                return ScanFault(why, is_refusal=True)
            context = self._tls_context or await system_trust()
            opened.setblocking(True)
            opened.settimeout(READ_SECONDS)
            loop = asyncio.get_running_loop()
            async with asyncio.timeout(SCAN_SECONDS):
                return await loop.run_in_executor(
                    self._threads, _scanned, opened, context, access, cursors, since
                )
        except TimeoutError:
            return ScanFault("the server was too slow", is_refusal=False)
        except OSError as error:
            return ScanFault(f"the connection broke: {error}", is_refusal=False)
        finally:
            with contextlib.suppress(OSError):  # wakes a thread that still reads
                guard.shutdown(socket.SHUT_RDWR)
            guard.close()
            opened.close()

    def close(self) -> None:
        """Release the threads; those that read end with their connections."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _scanned(
    opened: socket.socket,
    context: ssl.SSLContext,
    access: MailboxAccess,
    cursors: Cursors,
    since: datetime | None,
) -> MailboxScan | ScanFault:
    sock = opened
    try:
        if access.tls is MailboxTls.IMPLICIT:
            sock = context.wrap_socket(opened, server_hostname=access.host)
        server = _Dialogue(access.host, sock)
        if access.tls is MailboxTls.STARTTLS:
            server.starttls(context)
        _log_in(server, access)
        scan = _read_folders(server, access.folders, cursors, since)
        with contextlib.suppress(imaplib.IMAP4.error, OSError):
            server.logout()
        return scan
    except _Refused as refused:
        return ScanFault(str(refused), is_refusal=True)
    except ssl.SSLCertVerificationError as error:
        return ScanFault(f"its certificate is not valid: {error.verify_message}", is_refusal=False)
    except imaplib.IMAP4.error as error:
        return ScanFault(f"the server did not answer as expected: {error}", is_refusal=False)
    except (OSError, ValueError, IndexError, TypeError) as error:
        return ScanFault(f"the connection broke or was not IMAP: {error}", is_refusal=False)
    finally:
        sock.close()


def _log_in(server: _Dialogue, access: MailboxAccess) -> None:
    secret = access.password.reveal()

    def credentials(_: bytes) -> bytes:
        return f"\0{access.username}\0{secret}".encode()

    try:
        if "AUTH=PLAIN" in server.capabilities:
            server.authenticate("PLAIN", credentials)
        elif not f"{access.username}{secret}".isascii():
            raise _Refused("the server takes no name or password beyond ASCII")
        else:
            server.login(access.username, secret)
    except imaplib.IMAP4.abort:
        raise
    except imaplib.IMAP4.error as error:
        text = str(error)
        if "[UNAVAILABLE]" in text or "[INUSE]" in text or "[LIMIT]" in text:  # RFC 5530
            raise
        raise _Refused("the server refused the login") from None


def _read_folders(
    server: _Dialogue, folders: Sequence[str], cursors: Cursors, since: datetime | None
) -> MailboxScan:
    found: dict[str, FolderCursor] = {}
    mails: list[NewMail] = []
    room, has_more = MAX_MAILS, False
    for folder in folders:
        known = cursors.get(folder)
        if known is None:
            _check_use(server, folder)
        now = _state_of(server, folder)
        if known is None or known.validity != now.validity:
            found[folder] = now  # nothing of what is there is new
            continue
        found[folder] = known
        if now.next_uid <= known.next_uid:
            continue
        if room == 0:
            has_more = True
            continue
        uids = _added(server, folder, known, now)
        taken, behind = uids[:room], uids[room:]
        mails += _fetched(server, folder, now.validity, taken, since)
        found[folder] = FolderCursor(now.validity, behind[0] if behind else now.next_uid)
        room -= len(taken)
        has_more = has_more or bool(behind)
    return MailboxScan(found, tuple(mails), has_more)


def _check_use(server: _Dialogue, folder: str) -> None:
    """Refuse a folder that the server marks as one of sent mail, drafts, spam or trash."""
    asks = " RETURN (SPECIAL-USE)" if "SPECIAL-USE" in server.capabilities else ""
    _, listed = server.list('""', encoded(folder) + asks)
    flags = b" ".join(one for one in listed if isinstance(one, bytes)).lower().decode("latin-1")
    uses = set(re.findall(r"\\[a-z]+", flags)) & _REFUSED_USES
    if uses:
        raise _Refused(f"folder {folder} holds {uses.pop()[1:]} mail, which is not watched")


def _state_of(server: _Dialogue, folder: str) -> FolderCursor:
    state, data = server.status(encoded(folder), "(UIDVALIDITY UIDNEXT)")
    if state != "OK":
        raise _Refused(f"there is no folder {folder}")
    numbers = {name: int(value) for name, value in _NUMBERS.findall(_line(data))}
    if len(numbers) != 2:
        raise server.abort("STATUS without UIDVALIDITY and UIDNEXT")
    return FolderCursor(numbers[b"UIDVALIDITY"], numbers[b"UIDNEXT"])


def _added(server: _Dialogue, folder: str, known: FolderCursor, now: FolderCursor) -> Sequence[int]:
    state, _ = server.select(encoded(folder), readonly=True)
    if state != "OK":
        raise _Refused(f"folder {folder} cannot be opened")
    _, data = server.uid("SEARCH", f"UID {known.next_uid}:{now.next_uid - 1}")
    uids = {int(word) for one in data if isinstance(one, bytes) for word in one.split()}
    return sorted(uid for uid in uids if known.next_uid <= uid < now.next_uid)


def _fetched(
    server: _Dialogue, folder: str, validity: int, uids: Sequence[int], since: datetime | None
) -> Iterator[NewMail]:
    for start in range(0, len(uids), BATCH_MAILS):
        numbers = ",".join(map(str, uids[start : start + BATCH_MAILS]))
        _, data = server.uid("FETCH", numbers, f"(UID INTERNALDATE BODY.PEEK[]<0.{MAIL_BYTES}>)")
        for place, one in enumerate(data):
            if not isinstance(one, tuple):
                continue
            behind = data[place + 1] if place + 1 < len(data) else b""
            words = one[0] + (behind if isinstance(behind, bytes) else b"")
            uid, arrival = _UID.search(words), _ARRIVAL.search(words)
            if uid is None or arrival is None:
                continue
            received_at = _instant(arrival[1])
            if since is None or received_at >= since:
                yield NewMail(folder, validity, int(uid[1]), received_at, one[1][:MAIL_BYTES])


def _instant(text: bytes) -> datetime:
    given = text.decode("latin-1").strip()
    try:
        return datetime.strptime(given, "%d-%b-%Y %H:%M:%S %z").astimezone(UTC)
    except (ValueError, OverflowError):
        return datetime.now(UTC)


def _line(data: Sequence[object]) -> bytes:
    return b" ".join(
        part
        for one in data
        for part in (one if isinstance(one, tuple) else (one,))
        if isinstance(part, bytes)
    )
