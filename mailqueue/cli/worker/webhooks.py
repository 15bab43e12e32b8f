"""`mailqueue worker webhooks`: deliver events to webhooks."""

from dataclasses import replace
from pathlib import Path

import click
import uvloop

from mailqueue.cli.support.output import examples
from mailqueue.db.migrate import require_current
from mailqueue.db.pool import connect
from mailqueue.process import signals
from mailqueue.settings.environment import Settings, load_settings
from mailqueue.telemetry.log import configure_logging
from mailqueue.telemetry.supervisor import supervised
from mailqueue.webhooks.worker import WebhookWorker
from mailqueue.wiring import telling


@click.command(
    epilog=examples(
        "mailqueue worker webhooks",
        "mailqueue worker webhooks --in-flight 512",
        "DATABASE_URL=postgresql://mailqueue@db.example.com/mailqueue mailqueue worker webhooks",
    )
)
@click.option(
    "--in-flight",
    type=click.IntRange(2, 10_000),
    default=128,
    show_default=True,
    help="Concurrent calls to endpoints.",
)
@click.option("--data", type=click.Path(path_type=Path), help="Data folder of `mailqueue up`.")
def webhooks(*, in_flight: int, data: Path | None) -> None:
    """Deliver events to webhooks until SIGTERM; then finish open calls and release the rest.

    Any number may run, on any number of hosts; they share the work.
    """
    settings = load_settings(data=data)
    configure_logging(settings.log)
    uvloop.run(_deliver(settings, in_flight=in_flight))


async def _deliver(settings: Settings, *, in_flight: int) -> None:
    async with connect(settings.database, application_name="mailqueue/start") as conn:
        await require_current(conn, may_be_newer=False)
    async with signals.stop_signal() as stop, supervised(stop) as tell_ready:
        tell_ready()
        tools = replace(telling.webhook_tools(settings), in_flight=in_flight)
        await WebhookWorker(settings.database, tools).run(stop)
