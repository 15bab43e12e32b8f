"""`mailqueue api`: the HTTP API without workers."""

import click
import uvloop

from mailqueue.api.app import Application
from mailqueue.cli.support.output import examples
from mailqueue.cli.support.serving import serve
from mailqueue.cli.support.settings import command_settings
from mailqueue.db.pool import Pool
from mailqueue.process.listeners import listeners_of
from mailqueue.settings.environment import Settings
from mailqueue.settings.listeners import Surface
from mailqueue.telemetry.log import configure_logging
from mailqueue.wiring.api import build_services


@click.command(
    epilog=examples(
        "mailqueue api",
        "mailqueue api --port 8080 --no-trap",
        "mailqueue api --port 8080 --public-port 8081",
        "DATABASE_URL=postgresql://mailqueue@db.example.com/mailqueue mailqueue api --port 0",
    )
)
@click.option("--host", help="Address to listen on.  [MAILQUEUE_HOST; 127.0.0.1]")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="Port to listen on; 0 takes a free port.  [MAILQUEUE_PORT; 8025]",
)
@click.option(
    "--public-port",
    type=click.IntRange(0, 65535),
    help="Port of its own for links in mail and webhooks of providers; 0 takes a free port."
    "  [MAILQUEUE_PUBLIC_PORT; with the API]",
)
@click.option(
    "--no-trap",
    is_flag=True,
    default=None,
    help="Do not serve the pages of the mail trap.  [MAILQUEUE_NO_TRAP]",
)
def api(
    *, host: str | None, port: int | None, public_port: int | None, no_trap: bool | None
) -> None:
    """Serve the HTTP API, links in mail and the pages of the mail trap until SIGTERM or Ctrl-C."""
    settings = command_settings(host=host, port=port, public_port=public_port, no_trap=no_trap)
    configure_logging(settings.log)
    uvloop.run(_serve(settings))


_SURFACES = (Surface.API, Surface.PUBLIC)


async def _serve(settings: Settings) -> None:
    def app(pool: Pool) -> Application:
        return Application(settings, pool, services=build_services(settings, pool))

    addresses = listeners_of(settings, _SURFACES)
    await serve(app, settings, addresses=addresses, name="API")
