"""`mailqueue api`: the HTTP API without workers."""

import click
import uvloop

from mailqueue.api.app import create_app
from mailqueue.api.http.server import bind, listening
from mailqueue.cli.support.output import examples
from mailqueue.cli.support.settings import command_settings
from mailqueue.db.migrate import require_current
from mailqueue.db.pool import borrow, open_pool
from mailqueue.process import signals
from mailqueue.settings.environment import Settings
from mailqueue.telemetry.log import configure_logging
from mailqueue.telemetry.supervisor import supervised
from mailqueue.wiring.api import build_services


@click.command(
    epilog=examples(
        "mailqueue api",
        "mailqueue api --port 8080 --no-trap",
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
    "--no-trap",
    is_flag=True,
    default=None,
    help="Do not serve the pages of the mail trap.  [MAILQUEUE_NO_TRAP]",
)
def api(*, host: str | None, port: int | None, no_trap: bool | None) -> None:
    """Serve the HTTP API and the pages of the mail trap until SIGTERM or Ctrl-C."""
    settings = command_settings(host=host, port=port, no_trap=no_trap)
    configure_logging(settings.log)
    uvloop.run(_serve(settings))


async def _serve(settings: Settings) -> None:
    with bind(settings.api.host, settings.api.port, option="--port") as sock:
        async with (
            signals.stop_signal() as stop,
            supervised(stop) as tell_ready,
            open_pool(settings.database, application_name="mailqueue/api") as pool,
        ):
            async with borrow(pool, settings.database) as conn:
                await require_current(conn)
            app = create_app(settings, pool, services=build_services(settings, pool))
            async with listening(app, sock) as url:
                click.echo(f"API  {url}", err=True)
                tell_ready()
                await stop.wait()
