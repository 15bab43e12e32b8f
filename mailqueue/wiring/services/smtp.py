"""The listeners of SMTP: submission, bounce mail and the mail trap."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mailqueue.api.app import create_app
from mailqueue.api.http.server import bind, listening, local_url
from mailqueue.contract.processes import BounceListener, SubmissionListener
from mailqueue.inbound.listener import bounce_listener
from mailqueue.submission.server import submission_beside, submission_server
from mailqueue.trap.server import trap_server
from mailqueue.wiring.services.running import ListeningService, ServiceContext


@asynccontextmanager
async def submission(context: ServiceContext) -> AsyncIterator[ListeningService | None]:
    """Accept mail from programs; in `up` only if it is on and its default port free.

    Raises:
        ConfigError: an address or the certificate cannot be used.
    """
    settings, pool = context.settings, context.pool
    serving = (
        submission_beside(settings, pool, say=context.report)
        if context.is_in_up
        else submission_server(settings, pool)
    )
    async with serving as server:
        if server is None:
            yield None
            return
        host, port, tls_port = server.host, server.port, server.tls_port
        lines = [f"SMTP  smtp://{host}:{port}"]
        if tls_port is not None:
            lines.append(f"TLS   smtps://{host}:{tls_port}")
        document = SubmissionListener(host, port, tls_port)
        yield ListeningService(tuple(lines), document, local_url("smtp", host, port))


@asynccontextmanager
async def bounces(context: ServiceContext) -> AsyncIterator[ListeningService | None]:
    """Receive bounce mail; in `up` only if a port is set.

    Raises:
        ConfigError: the address cannot be used.
        Unavailable: the database is unavailable.
    """
    settings = context.settings
    if context.is_in_up and settings.bounces.port is None:
        yield None
        return
    async with bounce_listener(settings.bounces, context.pool, settings.database) as server:
        url = f"smtp://{server.host}:{server.port}"
        document = BounceListener(server.host, server.port)
        yield ListeningService((f"Bounces  {url} (SMTP, LMTP)",), document, url)


@asynccontextmanager
async def trap(context: ServiceContext) -> AsyncIterator[ListeningService]:
    """Catch mail, and serve the page that shows it.

    Raises:
        ConfigError: an address cannot be used, or requires a password.
    """
    settings, pool = context.settings, context.pool
    given = settings.trap
    with bind(settings.api.host, settings.api.port, option="--port") as sock:
        app = create_app(settings, pool, with_api=False)
        catching = trap_server(
            pool, settings.database, host=given.host, port=given.port, password=given.password
        )
        async with catching as server, listening(app, sock) as url:
            smtp = f"smtp://{server.host}:{server.port}"
            yield ListeningService((f"SMTP  {smtp}", f"Page  {url}/trap"), url=smtp)
