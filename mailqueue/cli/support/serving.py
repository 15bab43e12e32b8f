"""Serves an application until the process is told to stop."""

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack

import click

from mailqueue.api.app import Application
from mailqueue.api.http.server import bind, listening
from mailqueue.api.metrics.serving import metrics_beside
from mailqueue.db.migrate import require_current
from mailqueue.db.pool import Pool, borrow, open_pool
from mailqueue.process import signals
from mailqueue.process.listeners import ListenAddress
from mailqueue.settings.environment import Settings
from mailqueue.settings.listeners import Surface
from mailqueue.telemetry.supervisor import supervised


async def serve(
    make_app: Callable[[Pool], Application],
    settings: Settings,
    *,
    addresses: Mapping[frozenset[Surface], ListenAddress],
    name: str,
    path: str = "",
) -> None:
    """Serve surfaces on their addresses, over connections of its own, until SIGTERM or Ctrl-C.

    `name` is the name of the application: of its connections in lower case, and on standard error
    before its URL, which ends with `path`; Public for a listener of the public surface alone.

    Raises:
        ConfigError: a port is in use, a host is not local, or the schema does not fit.
    """
    async with AsyncExitStack() as stack:
        sockets = {
            surfaces: stack.enter_context(bind(host, port, option=option))
            for surfaces, (host, port, option) in addresses.items()
        }
        stop = await stack.enter_async_context(signals.stop_signal())
        tell_ready = await stack.enter_async_context(supervised(stop))
        pool = await stack.enter_async_context(
            open_pool(settings.database, application_name=f"mailqueue/{name.lower()}")
        )
        await stack.enter_async_context(metrics_beside(settings, pool=pool))
        async with borrow(pool, settings.database) as conn:
            await require_current(conn)
        app = make_app(pool)
        for surfaces, sock in sockets.items():
            url = await stack.enter_async_context(listening(app.on(surfaces), sock))
            is_public = surfaces == {Surface.PUBLIC}
            click.echo(f"Public  {url}" if is_public else f"{name}  {url}{path}", err=True)
        tell_ready()
        await stop.wait()
