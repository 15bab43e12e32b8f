"""The listener of links in mail and webhooks of providers, on hosts without the API."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mailqueue.api.app import Application
from mailqueue.api.http.server import bind, listening
from mailqueue.settings.listeners import Surface
from mailqueue.wiring.api import build_services
from mailqueue.wiring.services.running import ListeningService, ServiceContext


@asynccontextmanager
async def links(context: ServiceContext) -> AsyncIterator[ListeningService]:
    """Serve the public surface alone.

    Raises:
        ConfigError: the port is in use, or the host is not local.
    """
    settings, pool = context.settings, context.pool
    app = Application(settings, pool, services=build_services(settings, pool))
    host, port = settings.listeners.public_host, settings.listeners.public_port or 0
    with bind(host, port, option="--port") as sock:
        async with listening(app.on({Surface.PUBLIC}), sock) as url:
            yield ListeningService((f"Public  {url}",), url=url)
