"""The mail trap as a process of its own: SMTP and web page."""

import click

from mailqueue.api.app import create_app
from mailqueue.api.http.server import bind, listening
from mailqueue.db.migrate import require_current
from mailqueue.db.pool import borrow, open_pool
from mailqueue.process import signals
from mailqueue.settings.environment import Settings
from mailqueue.trap.server import trap_server


async def serve_trap(settings: Settings) -> None:
    """Catch and show emails until SIGTERM or Ctrl-C."""
    given = settings.trap
    with bind(settings.api.host, settings.api.port, option="--port") as sock:
        async with (
            signals.stop_signal() as stop,
            open_pool(settings.database, application_name="mailqueue/trap") as pool,
        ):
            async with borrow(pool, settings.database) as conn:
                await require_current(conn)
            app = create_app(settings, pool, with_api=False)
            smtp = trap_server(
                pool,
                settings.database,
                host=given.host,
                port=given.port,
                password=given.password,
            )
            async with smtp as trap, listening(app, sock) as url:
                click.echo(f"SMTP  smtp://{trap.host}:{trap.port}", err=True)
                click.echo(f"Page  {url}/trap", err=True)
                await stop.wait()
