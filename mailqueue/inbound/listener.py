"""Receive bounce mail by SMTP and LMTP, for the configured bounce domains only.

A message is stored before it is acknowledged, and parsed later by a worker. Its sender need not be
empty: complaints have a sender, and so have the bounces of some old servers.
"""

import asyncio
import hashlib
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass

from mailqueue.core.errors import ConfigError, MailqueueError, StorageFull
from mailqueue.db.pool import Pool, borrow
from mailqueue.inbound.bounces import store
from mailqueue.inbound.bounces.submitted import RECIPIENT, SENDER
from mailqueue.inbound.intake import RequestIntake, intake_of
from mailqueue.inbound.model import NewRequest
from mailqueue.settings.bounces import DEFAULT_PORT, BounceSettings
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.smtp.server.answer import SmtpReply
from mailqueue.smtp.server.handler import ReceivedEnvelope, ServerLimits
from mailqueue.smtp.server.listener import smtp_server
from mailqueue.telemetry.log import get_logger

PROVIDER = "smtp"
LIMITS = ServerLimits(
    message_bytes=10 * 1024 * 1024,
    recipients=100,
    connections=500,
    connections_per_address=50,
    waiting=50,
    refuses_early_commands=True,
    idle_commands=100,
    message_s=600.0,
    min_bytes_per_s=500,
    drain_s=15.0,
)
FRESH_SECONDS = 5.0
"""Refresh interval of the bounce domains, in seconds."""

NOT_OURS = SmtpReply(550, "5.7.1", "no bounces are received for this domain")
AWAY = SmtpReply(451, "4.3.0", "the message cannot be stored now, try again later")
FULL = SmtpReply(452, "4.3.1", "too many messages at once, try again later")

log = get_logger(__name__)


class Domains:
    """The bounce domains of all projects and of this installation."""

    def __init__(self, always: tuple[str, ...]) -> None:
        self._always = frozenset(always)
        self._known = self._always

    def takes(self, address: str) -> bool:
        """Return whether the domain of an address is one of them."""
        return address.rpartition("@")[2].lower().rstrip(".") in self._known

    async def refresh(self, pool: Pool, database: DatabaseSettings) -> None:
        """Read the domains from the database.

        Raises:
            MailqueueError: the database is unavailable.
        """
        async with borrow(pool, database) as conn:
            self._known = self._always | set(await store.list_domains(conn))

    async def follow(self, pool: Pool, database: DatabaseSettings) -> None:
        """Refresh the domains every FRESH_SECONDS until cancelled."""
        while True:
            await asyncio.sleep(FRESH_SECONDS)
            with suppress(MailqueueError):  # the domains read before stay in use
                await self.refresh(pool, database)


@dataclass(frozen=True, slots=True)
class BounceHandler:
    """SMTP handler that stores mail for the bounce domains."""

    domains: Domains
    keeping: RequestIntake

    def check_recipient(self, address: str) -> SmtpReply | None:
        """Return the refusal of a recipient in another domain: the listener does not relay."""
        return None if self.domains.takes(address) else NOT_OURS

    async def accept(self, envelope: ReceivedEnvelope, raw: bytes) -> SmtpReply | None:
        """Store a message once for all its recipients, which share one reply."""
        recipients = " ".join(envelope.recipients)
        digest = hashlib.sha256(recipients.encode() + b"\n" + raw).hexdigest()
        kept = NewRequest(
            PROVIDER,
            raw,
            dedupe_key=digest,  # a client that missed our reply sends the same again
            headers={"content-type": "message/rfc822"},
            query={SENDER: envelope.sender, RECIPIENT: recipients},
        )
        try:
            await self.keeping.submit(kept)
        except StorageFull:
            return FULL
        except MailqueueError as exc:
            log.warning("bounces.not_kept", error=str(exc))
            return AWAY
        return SmtpReply(250, "2.0.0", f"Ok: stored as {digest[:16]}")


@dataclass(frozen=True, slots=True)
class Listener:
    """A running listener."""

    host: str
    port: int


@asynccontextmanager
async def bounce_listener(
    settings: BounceSettings,
    pool: Pool,
    database: DatabaseSettings,
    *,
    limits: ServerLimits = LIMITS,
) -> AsyncIterator[Listener]:
    """Receive bounce mail until the block ends.

    Raises:
        ConfigError: the address cannot be used.
        Unavailable: the database is unavailable.
    """
    domains = Domains(settings.domains)
    await domains.refresh(pool, database)
    port = DEFAULT_PORT if settings.port is None else settings.port
    serving = smtp_server(
        BounceHandler(domains, intake_of(pool, database)),
        host=settings.host,
        port=port,
        hostname=settings.name or socket.gethostname(),
        limits=limits,
        takes_lmtp=True,
    )
    async with AsyncExitStack() as stack:
        try:
            bound = await stack.enter_async_context(serving)
        except OSError as exc:
            raise ConfigError(
                f"MAILQUEUE_BOUNCES_PORT {port}: cannot listen on {settings.host}:"
                f" {exc.strerror or exc}"
            ) from exc
        following = asyncio.create_task(domains.follow(pool, database), name="bounce-domains")
        stack.callback(following.cancel)
        log.info("bounces.started", host=settings.host, port=bound)
        yield Listener(settings.host, bound)
