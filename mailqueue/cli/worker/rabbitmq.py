"""`mailqueue worker rabbitmq`: take events from queues of RabbitMQ."""

from pathlib import Path

import click
import uvloop

from mailqueue.api.metrics.serving import metrics_beside
from mailqueue.cli.support.output import examples
from mailqueue.cli.support.settings import command_settings
from mailqueue.db.migrate import require_current
from mailqueue.db.pool import borrow, open_pool
from mailqueue.process import signals
from mailqueue.settings.environment import Settings
from mailqueue.telemetry.log import configure_logging
from mailqueue.telemetry.supervisor import supervised
from mailqueue.wiring import bridge


@click.command(
    epilog=examples(
        "MAILQUEUE_RABBITMQ_URL=amqps://mailqueue:secret@rabbitmq.example.com/shop"
        " MAILQUEUE_RABBITMQ_QUEUES=mailqueue=shop mailqueue worker rabbitmq",
    )
)
@click.option("--data", type=click.Path(path_type=Path), help="Data folder of `mailqueue up`.")
def rabbitmq(*, data: Path | None) -> None:
    """Take the messages of queues of RabbitMQ as events until SIGTERM.

    MAILQUEUE_RABBITMQ_URL names the broker, MAILQUEUE_RABBITMQ_QUEUES the queues. Any number of
    processes may run: one at a time takes the messages of a queue. `mailqueue worker publishing`
    publishes outboxes to RabbitMQ.
    """
    settings = command_settings(data=data)
    configure_logging(settings.log)
    uvloop.run(_run(settings))


async def _run(settings: Settings) -> None:
    async with (
        signals.stop_signal() as stop,
        supervised(stop) as tell_ready,
        open_pool(settings.database, application_name="mailqueue/rabbitmq") as pool,
        metrics_beside(settings, pool=pool),
    ):
        async with borrow(pool, settings.database) as conn:
            await require_current(conn)
        await bridge.run(settings, pool, stop, ready=tell_ready)
