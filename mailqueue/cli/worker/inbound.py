"""`mailqueue worker inbound`: process webhook requests of providers and bounce emails."""

from pathlib import Path

import click
import uvloop

from mailqueue.cli.support.output import examples
from mailqueue.db.migrate import require_current
from mailqueue.db.pool import connect
from mailqueue.inbound.worker import InboundWorker
from mailqueue.process import signals
from mailqueue.settings.environment import Settings, load_settings
from mailqueue.telemetry.log import configure_logging
from mailqueue.telemetry.supervisor import supervised
from mailqueue.wiring import receiving


@click.command(
    epilog=examples(
        "mailqueue worker inbound",
        "DATABASE_URL=postgresql://mailqueue@db.example.com/mailqueue mailqueue worker inbound",
    )
)
@click.option("--data", type=click.Path(path_type=Path), help="Data folder of `mailqueue up`.")
def inbound(*, data: Path | None) -> None:
    """Process provider webhooks and bounce emails until SIGTERM; part of `mailqueue up`.

    Any number may run, on any number of hosts; they share the work.
    """
    settings = load_settings(data=data)
    configure_logging(settings.log)
    uvloop.run(_record(settings))


async def _record(settings: Settings) -> None:
    async with connect(settings.database, application_name="mailqueue/start") as conn:
        await require_current(conn, may_be_newer=False)
    async with signals.stop_signal() as stop, supervised(stop) as tell_ready:
        tell_ready()
        await InboundWorker(settings.database, receiving.inbound_tools(settings)).run(stop)
