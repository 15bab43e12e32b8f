"""Runs the SMTP servers for submission."""

import errno
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

from mailqueue.core.errors import ConfigError, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import Pool, borrow
from mailqueue.mail.accept.intake import Intake
from mailqueue.mail.accept.shares import MAX_RECIPIENTS
from mailqueue.projects.keys.cache import KeyCache
from mailqueue.projects.rate_limit.limiter import RateLimiter
from mailqueue.settings.environment import Settings
from mailqueue.settings.submission import DEFAULT_PORT
from mailqueue.smtp.server.handler import ServerLimits
from mailqueue.smtp.server.listener import smtp_server
from mailqueue.submission import store
from mailqueue.submission.authentication import Authenticator
from mailqueue.submission.certificates import certificate_of, renewed
from mailqueue.submission.handler import MAX_WAIT_SECONDS, SubmissionHandler
from mailqueue.submission.shares import ConnectionShares
from mailqueue.telemetry.log import get_logger

LIMITS = ServerLimits(
    message_bytes=52_428_800,
    recipients=MAX_RECIPIENTS,
    refuses_incomplete=True,
    connections=1_000,
    connections_per_address=100,
    waiting=50,
    text_line_bytes=998,  # RFC 5322 section 2.1.1
    refuses_bare_ends=True,
    refuses_early_commands=True,
    idle_commands=100,
    login_s=120.0,
    message_s=3_600.0,
    min_bytes_per_s=500,
    drain_s=15.0,
)

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Submission:
    """A listening submission server; `tls_port` uses implicit TLS."""

    host: str
    port: int
    tls_port: int | None


class PortInUse(ConfigError):
    """Another process listens on the port."""


@asynccontextmanager
async def submission_server(
    settings: Settings,
    pool: Pool,
    *,
    limits: ServerLimits = LIMITS,
    patience_s: float = MAX_WAIT_SECONDS,
) -> AsyncIterator[Submission]:
    """Accept submitted mail until the block ends.

    Raises:
        ConfigError: an address or the certificate cannot be used.
    """
    given = settings.submission
    certificate = certificate_of(given, settings.data)

    @asynccontextmanager
    async def lend() -> AsyncIterator[Conn]:
        async with borrow(pool, settings.database) as conn:
            yield conn

    async def message_bytes(project_id: UUID) -> int:
        async with lend() as conn:
            found = await store.message_bytes(conn, project_id)
        if found is None:
            raise NotFound("project", project_id)
        return found

    shares = ConnectionShares(given.project_connections)
    gate = Authenticator(KeyCache(lend), message_bytes, shares)
    handler = SubmissionHandler(Intake(pool, settings.database), RateLimiter(lend), patience_s)

    async def serve(port: int, *, is_implicit: bool) -> int:
        server = smtp_server(
            handler,
            host=given.host,
            port=port,
            hostname=given.name or socket.gethostname(),
            authenticate=gate.enter,
            limits=limits,
            tls=certificate.context,
            is_implicit=is_implicit,
        )
        try:
            return await stack.enter_async_context(server)
        except OSError as exc:
            raise _unusable(given.host, port, exc, is_implicit=is_implicit) from exc

    async with AsyncExitStack() as stack:
        await stack.enter_async_context(renewed(certificate))
        port = await serve(DEFAULT_PORT if given.port is None else given.port, is_implicit=False)
        tls_port = None
        if given.tls_port is not None:
            tls_port = await serve(given.tls_port, is_implicit=True)
        log.info("submission.started", host=given.host, port=port, tls_port=tls_port)
        yield Submission(given.host, port, tls_port)


@asynccontextmanager
async def submission_beside(
    settings: Settings, pool: Pool, *, say: Callable[[str], None]
) -> AsyncIterator[Submission | None]:
    """Run submission beside other parts.

    Yield None if it is disabled or its default port in use.
    """
    async with AsyncExitStack() as stack:
        running = None
        if settings.submission.is_on:
            try:
                running = await stack.enter_async_context(submission_server(settings, pool))
            except PortInUse as exc:
                if settings.submission.port is not None:
                    raise
                say(f"SMTP submission is disabled: {exc}")
        yield running


def _unusable(host: str, port: int, exc: OSError, *, is_implicit: bool) -> ConfigError:
    name = "MAILQUEUE_SUBMISSION_TLS_PORT" if is_implicit else "MAILQUEUE_SUBMISSION_PORT"
    if exc.errno == errno.EADDRINUSE:
        return PortInUse(
            f"{name} {port}: the port is in use on {host}; choose another, or 0 for a free one"
        )
    return ConfigError(f"{name} {port}: cannot listen on {host}: {exc.strerror or exc}")
