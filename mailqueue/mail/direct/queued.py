"""Queued emails with a custom SMTP server: credentials are sealed, used once and deleted."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import uuid4

import orjson

from mailqueue.core.errors import ConfigError, Conflict, Locked, SealBroken
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.mail.accept.enqueue import NewEmail, message_of, unstorable
from mailqueue.mail.direct import store as direct_store
from mailqueue.mail.direct.send_now import DEADLINE_SECONDS, RETRY_WAIT, SentNow, send_marked
from mailqueue.mail.direct.store import ClaimedInline
from mailqueue.mail.message.attachments import count_within_memory
from mailqueue.mail.message.tracking import EmailTracking
from mailqueue.mail.model import Ending, LoadedEmail, SendOutcome
from mailqueue.mail.send.load import load_emails
from mailqueue.ports.transport import Transport
from mailqueue.senders.inline import InlineServer
from mailqueue.senders.model import Tls
from mailqueue.telemetry.log import get_logger
from mailqueue.templates.cache import TemplateCache
from mailqueue.tenants.model import Caller
from mailqueue.vault import vault
from mailqueue.vault.masterkey import MasterKey
from mailqueue.vault.sealing import SealedCell

POLL_SECONDS = 2.0
MAX_AT_ONCE = 4

log = get_logger(__name__)

Fetch = Callable[[list[LoadedEmail]], Awaitable[list[LoadedEmail]]]


@dataclass(frozen=True, slots=True)
class InlineTransports:
    """How an email's own server is reached: the master key of its credentials, its transport."""

    read_master: Callable[[], MasterKey | None]
    transport_of: Callable[[InlineServer], Transport]


async def queue_for(
    conn: Conn,
    email: NewEmail,
    server: InlineServer,
    *,
    caller: Caller,
    master: MasterKey | None,
) -> SentNow:
    """Accept one email with the server that sends it, its credentials sealed.

    Call it in a transaction: email and server commit together.

    Raises:
        InvalidField: nothing is stored.
        Conflict: there is no master key to seal with.
        Locked: the project's own key is locked.
    """
    fault = unstorable(email)
    if fault is not None:
        raise fault
    if master is None:
        raise Conflict("no server is kept here: there is no master key to seal it with")
    place = SealedCell(caller.project_id, "inline_servers", "sealed", uuid4())
    sealed = await vault.seal(conn, master, place=place, plaintext=_written(server))
    assert not isinstance(place.row_id, int | str)
    found = await direct_store.queue(
        conn, caller.project, message_of(email), server_id=place.row_id, sealed=sealed
    )
    return SentNow(found.id, found.state, found.reason)


class CustomSmtpQueue:
    """Sends emails that have a server of their own, a few at a time."""

    def __init__(
        self,
        link: Link,
        transports: InlineTransports,
        templates: TemplateCache,
        fetch: Fetch,
        *,
        tracking: EmailTracking | None = None,
    ) -> None:
        self._link = link
        self._transports = transports
        self._templates = templates
        self._fetch = fetch
        self._tracking = tracking or EmailTracking()

    async def run(self, stop: asyncio.Event) -> None:
        """Send due emails until `stop` is set, then finish those in flight."""
        while not stop.is_set():
            while await self.turn() == MAX_AT_ONCE and not stop.is_set():
                pass
            try:
                async with asyncio.timeout(POLL_SECONDS):
                    await stop.wait()
            except TimeoutError:
                continue

    async def turn(self) -> int:
        """Send up to `MAX_AT_ONCE` due emails; return their number."""
        claimed = await self._link.call(partial(direct_store.claim, limit=MAX_AT_ONCE))
        if not claimed:
            return 0
        end = time.monotonic() + DEADLINE_SECONDS
        emails = [one.email for one in claimed]
        mails = await load_emails(self._link.call, emails, self._templates)
        mails = await self._tracking.inject(mails, self._link.call)
        waiting = list(zip(claimed, mails, strict=True))
        while waiting:  # as many at once as fit in memory with their files
            count = count_within_memory([mail for _, mail in waiting])
            await asyncio.gather(*(self._send(*each, end=end) for each in waiting[:count]))
            del waiting[:count]
        return len(claimed)

    async def _send(self, one: ClaimedInline, mail: LoadedEmail, *, end: float) -> None:
        try:
            done = await self._sent(one, mail, end=end)
        except Exception as exc:  # one bad row must not stop a worker
            log.exception("inline.failed", email_id=str(one.id))
            reason = f"{type(exc).__name__} while sending"
            done = SendOutcome(one.id, one.claim_no, Ending.UNKNOWN, reason=reason)
        await self._link.call(partial(direct_store.settle, worker=one.worker_id, done=done))

    async def _sent(self, one: ClaimedInline, mail: LoadedEmail, *, end: float) -> SendOutcome:
        try:
            server = await self._link.call(partial(self._opened, one=one))
        except (Locked, ConfigError, SealBroken) as exc:  # another host may have the key
            deferred = SendOutcome(one.id, one.claim_no, Ending.DEFER, reason=str(exc))
            return deferred._replace(wait=RETRY_WAIT)
        (complete,) = await self._fetch([mail])
        return await send_marked(
            complete,
            self._transports.transport_of(server),
            hidden=server.hidden,
            end=end,
            is_tried_again=True,
        )

    async def _opened(self, conn: Conn, one: ClaimedInline) -> InlineServer:
        master = self._transports.read_master()
        if master is None:
            raise ConfigError("its server is sealed, and there is no MAILQUEUE_MASTER_KEY")
        place = SealedCell(one.project_id, "inline_servers", "sealed", one.server_id)
        return _read(await vault.open_sealed(conn, master, place=place, sealed=one.sealed))


def _written(server: InlineServer) -> bytes:
    return orjson.dumps(
        {
            "host": server.host,
            "port": server.port,
            "tls": server.tls,
            "username": server.username.reveal(),
            "password": server.password.reveal(),
        }
    )


def _read(document: bytes) -> InlineServer:
    found: Mapping[str, Any] = orjson.loads(document)
    return InlineServer(
        host=found["host"],
        port=found["port"],
        tls=Tls(found["tls"]),
        username=Secret(found["username"]),
        password=Secret(found["password"]),
    )
