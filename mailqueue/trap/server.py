"""The trap's SMTP server: every message is stored and shown, none is delivered."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from mailqueue.core.errors import ConfigError, MailqueueError
from mailqueue.core.secret import Secret
from mailqueue.db.pool import Pool
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.smtp.server.answer import FAILED, LOGIN_REFUSED, SmtpReply
from mailqueue.smtp.server.handler import (
    Authenticate,
    LoggedIn,
    LoginAttempt,
    ReceivedEnvelope,
    ServerLimits,
)
from mailqueue.smtp.server.listener import smtp_server
from mailqueue.trap.access import is_password, require_password
from mailqueue.trap.collector import Collector, collector
from mailqueue.trap.simulator import (
    BEHAVIOUR_BY_NAME,
    DEFAULT_BEHAVIOUR,
    Behaviour,
    behaviour_for,
    name_of,
)
from mailqueue.trap.summary import caught

CAUGHT = SmtpReply(250, "2.0.0", "caught")


@dataclass(frozen=True, slots=True)
class TrapHandler:
    """Stores messages, or replies as a simulator address prescribes."""

    collector: Collector
    behaviours: Mapping[str, Behaviour]

    def check_recipient(self, address: str) -> SmtpReply | None:
        """Refuse the simulator addresses that are refused at RCPT."""
        return self.behaviours.get(name_of(address), DEFAULT_BEHAVIOUR).at_recipient

    async def accept(self, envelope: ReceivedEnvelope, raw: bytes) -> SmtpReply | None:
        """Store a message; reply once it is committed."""
        behaviour = behaviour_for(envelope.recipients, self.behaviours)
        if behaviour.after_data is not None:
            return behaviour.after_data
        try:
            await self.collector.submit(caught(envelope.sender, envelope.recipients, raw))
        except MailqueueError:
            return FAILED
        if behaviour.wait:
            await asyncio.sleep(behaviour.wait.total_seconds())
        return None if behaviour.hangs_up else CAUGHT


@dataclass(frozen=True, slots=True)
class TrapServer:
    """Host and port of a listening trap."""

    host: str
    port: int


@asynccontextmanager
async def trap_server(
    pool: Pool,
    database: DatabaseSettings,
    *,
    host: str,
    port: int,
    password: Secret | None = None,
    behaviours: Mapping[str, Behaviour] = BEHAVIOUR_BY_NAME,
    limits: ServerLimits | None = None,
) -> AsyncIterator[TrapServer]:
    """Catch mail until the block ends; port 0 is any free port.

    With a password clients must log in, with any user name.

    Raises:
        ConfigError: the address cannot be used, or requires a password.
    """
    require_password(host, password)
    async with collector(pool, database) as keeping, AsyncExitStack() as stack:
        serving = smtp_server(
            TrapHandler(keeping, behaviours),
            host=host,
            port=port,
            authenticate=_check(password) if password else None,
            limits=limits,
        )
        try:
            bound_port = await stack.enter_async_context(serving)
        except OSError as exc:
            raise ConfigError(
                f"--trap-port (MAILQUEUE_TRAP_PORT): cannot listen on {host}:{port}: {exc.strerror}"
            ) from exc
        yield TrapServer(host, bound_port)


def _check(password: Secret) -> Authenticate:
    async def check(attempt: LoginAttempt) -> LoggedIn | SmtpReply:
        return LoggedIn() if is_password(attempt.password, password) else LOGIN_REFUSED

    return check
