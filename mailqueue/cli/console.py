"""`mailqueue console`: the web console without API and workers."""

import click
import uvloop

from mailqueue.api.app import create_app
from mailqueue.api.http.health import health_routes
from mailqueue.api.http.server import bind, listening
from mailqueue.cli.support.output import examples
from mailqueue.cli.support.settings import command_settings
from mailqueue.console.app import console_routes
from mailqueue.db.migrate import require_current
from mailqueue.db.pool import borrow, open_pool
from mailqueue.process import signals
from mailqueue.settings.environment import Settings
from mailqueue.telemetry.log import configure_logging
from mailqueue.telemetry.supervisor import supervised
from mailqueue.wiring.console import message_sources


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
    with bind(settings.console.host, settings.console.port, option="--port") as sock:
        async with (
            signals.stop_signal() as stop,
            supervised(stop) as tell_ready,
            open_pool(settings.database, application_name="mailqueue/console") as pool,
        ):
            async with borrow(pool, settings.database) as conn:
                await require_current(conn)
            pages = [
                *console_routes(settings, pool, message_sources(settings)),
                *health_routes(pool, settings.database),
            ]
            app = create_app(settings, pool, with_api=False, pages=pages)
            async with listening(app, sock) as url:
                click.echo(f"Console  {url}/console", err=True)
                tell_ready()
                await stop.wait()
