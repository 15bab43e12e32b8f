"""`mailqueue console`: the web console without API and workers."""

from functools import partial

import click
import uvloop

from mailqueue.api.app import Application
from mailqueue.cli.support.output import examples
from mailqueue.cli.support.serving import serve
from mailqueue.cli.support.settings import command_settings
from mailqueue.console.app import console_routes
from mailqueue.db.pool import Pool
from mailqueue.settings.environment import Settings
from mailqueue.settings.listeners import Surface
from mailqueue.telemetry.log import configure_logging
from mailqueue.wiring.api import trial_transports
from mailqueue.wiring.console import login_provider, message_sources
from mailqueue.wiring.webhooks import poster_of


@click.command(
    epilog=examples(
        "mailqueue console",
        "mailqueue console --port 8080",
        "MAILQUEUE_CONSOLE_URL=https://mail.example.com mailqueue console --host 0.0.0.0",
    )
)
@click.option("--host", help="Address to listen on.  [MAILQUEUE_CONSOLE_HOST; 127.0.0.1]")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="Port to listen on; 0 takes a free port.  [MAILQUEUE_CONSOLE_PORT; 8081]",
)
def console(*, host: str | None, port: int | None) -> None:
    """Serve the web console at /console until SIGTERM or Ctrl-C."""
    settings = command_settings(console_host=host, console_port=port, no_trap=True)
    configure_logging(settings.log)
    uvloop.run(_serve(settings))


async def _serve(settings: Settings) -> None:
    def app(pool: Pool) -> Application:
        pages = console_routes(
            settings,
            pool,
            message_sources(settings),
            issuer=login_provider(settings),
            open_transport=trial_transports(settings),
            make_poster=partial(poster_of, settings),
        )
        return Application(settings, pool, with_api=False, pages=pages)

    place = (settings.console.host, settings.console.port, "--port")
    addresses = {frozenset({Surface.CONSOLE}): place}
    await serve(app, settings, addresses=addresses, name="Console", path="/console")
