"""The listeners of HTTP: the API and the console as processes of their own."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

from mailqueue.api.app import Application
from mailqueue.api.http.server import bind, listening
from mailqueue.db.replica import open_replica
from mailqueue.settings.listeners import Surface
from mailqueue.wiring.api import build_services
from mailqueue.wiring.console import console_pages
from mailqueue.wiring.listeners import ListenAddress, listeners_of
from mailqueue.wiring.services.running import ListeningService, ServiceContext


@asynccontextmanager
async def api(context: ServiceContext) -> AsyncIterator[ListeningService]:
    """Serve the API, and links in mail on their own address where one is set.

    Raises:
        ConfigError: a port is in use, or a host is not local.
    """
    settings, pool = context.settings, context.pool
    addresses = listeners_of(settings, (Surface.API, Surface.PUBLIC))
    async with AsyncExitStack() as stack:
        replica = await stack.enter_async_context(open_replica(settings.database))
        services = build_services(settings, pool)
        app = Application(settings, pool, services=services, replica=replica)
        urls = await stack.enter_async_context(_served(app, addresses))
        yield ListeningService(
            tuple(
                f"{'Public' if surfaces == {Surface.PUBLIC} else 'API'}  {url}"
                for surfaces, url in urls.items()
            ),
            url=next(iter(urls.values())),
        )


@asynccontextmanager
async def console(context: ServiceContext) -> AsyncIterator[ListeningService]:
    """Serve the console.

    Raises:
        ConfigError: the port is in use, or the host is not local.
    """
    settings, pool = context.settings, context.pool
    address = (settings.console.host, settings.console.port, "--port")
    async with AsyncExitStack() as stack:
        replica = await stack.enter_async_context(open_replica(settings.database))
        pages = console_pages(settings, pool, replica=replica)
        app = Application(settings, pool, with_api=False, pages=pages)
        served = _served(app, {frozenset({Surface.CONSOLE}): address})
        [url] = (await stack.enter_async_context(served)).values()
        yield ListeningService((f"Console  {url}/console",), url=url)


@asynccontextmanager
async def _served(
    app: Application, addresses: Mapping[frozenset[Surface], ListenAddress]
) -> AsyncIterator[dict[frozenset[Surface], str]]:
    """Serve surfaces on their addresses; yield the URL of each."""
    async with AsyncExitStack() as stack:
        sockets = {
            surfaces: stack.enter_context(bind(host, port, option=option))
            for surfaces, (host, port, option) in addresses.items()
        }
        yield {
            surfaces: await stack.enter_async_context(listening(app.on(surfaces), sock))
            for surfaces, sock in sockets.items()
        }
