"""`mailqueue worker bounces`: receive bounce emails."""

from pathlib import Path

import click
import uvloop

from mailqueue.api.metrics.serving import metrics_beside
from mailqueue.cli.support.answer import json_option, print_result
from mailqueue.cli.support.output import examples
from mailqueue.cli.support.settings import command_settings
from mailqueue.contract.processes import BounceListener
from mailqueue.db.migrate import require_current
from mailqueue.db.pool import borrow, open_pool
from mailqueue.inbound.listener import Listener, run
from mailqueue.process import signals
from mailqueue.settings.environment import Settings
from mailqueue.telemetry.log import configure_logging
from mailqueue.telemetry.supervisor import supervised


@click.command(
    epilog=examples(
        "mailqueue worker bounces",
        "mailqueue worker bounces --host 0.0.0.0 --port 25 --name bounces.example.com",
    )
)
@click.option("--host", help="Address to listen on.  [MAILQUEUE_BOUNCES_HOST; 127.0.0.1]")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="Port to listen on; 0 takes a free port.  [MAILQUEUE_BOUNCES_PORT; 2526]",
)
@click.option(
    "--name", help="Host name in the SMTP greeting.  [MAILQUEUE_BOUNCES_NAME; the machine's name]"
)
@click.option("--data", type=click.Path(path_type=Path), help="Data folder of `mailqueue up`.")
@json_option
def bounces(*, host: str | None, port: int | None, name: str | None, data: Path | None) -> None:
    """Receive bounces by SMTP and LMTP, for the bounce domains of all projects, until SIGTERM.

    `mailqueue worker inbound` processes them.
    """
    settings = command_settings(bounces_host=host, bounces_port=port, bounces_name=name, data=data)
    configure_logging(settings.log)
    uvloop.run(_serve(settings))


async def _serve(settings: Settings) -> None:
    database = settings.database
    async with (
        signals.stop_signal() as stop,
        supervised(stop) as tell_ready,
        open_pool(database, application_name="mailqueue/bounces") as pool,
        metrics_beside(settings, pool=pool),
    ):
        async with borrow(pool, database) as conn:
            await require_current(conn)

        def ready(running: Listener) -> None:
            url = f"smtp://{running.host}:{running.port}"
            print_result(
                BounceListener(running.host, running.port),
                lambda: click.echo(f"Bounces  {url} (SMTP, LMTP)", err=True),
            )
            tell_ready()

        await run(settings.bounces, stop, pool=pool, database=database, ready=ready)
