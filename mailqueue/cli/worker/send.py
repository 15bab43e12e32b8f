"""`mailqueue worker send`: send queued emails, in one or several processes."""

import resource
from pathlib import Path
from uuid import UUID

import click
import uvloop

from mailqueue.cli.support.loading import load_module
from mailqueue.cli.support.output import examples
from mailqueue.cli.support.settings import command_settings
from mailqueue.cli.worker.metrics import worker_metrics
from mailqueue.core.queues.registry import ALONE_MEMORY_BYTES
from mailqueue.db.migrate import require_current
from mailqueue.db.pool import connect
from mailqueue.process import signals
from mailqueue.process.groups import sending_children
from mailqueue.process.pool import WorkerPool
from mailqueue.queue.in_progress import InProgress
from mailqueue.senders.rates import keep_max_send_rate
from mailqueue.settings.environment import Settings
from mailqueue.telemetry.log import configure_logging
from mailqueue.telemetry.metrics.memory import MEMORY
from mailqueue.telemetry.supervisor import supervised

SENDING = "mailqueue.wiring.sending"
"""What the processes that send load."""


@click.command(
    epilog=examples(
        "mailqueue worker send --processes 4",
        "DATABASE_URL=postgresql://mailqueue@db.example.com/mailqueue mailqueue worker send",
    )
)
@click.option(
    "--processes", type=click.IntRange(1, 256), help="Number of processes.  [default: one per core]"
)
@click.option("--in-flight", type=click.IntRange(1, 10_000), help="Emails sent concurrently.")
@click.option("--batch", type=click.IntRange(1, 10_000), help="Maximum rows per claim.")
@click.option("--data", type=click.Path(path_type=Path), help="Data folder of `mailqueue up`.")
@click.option("--public-url", help="Base URL of links in emails.  [MAILQUEUE_PUBLIC_URL]")
@click.option("--child", type=click.UUID, hidden=True, help="Launch id, given by the parent.")
@click.option("--in-progress", type=int, hidden=True, help="Memory file of the parent.")
@click.option("--alone", is_flag=True, hidden=True, help="Emails whose worker stopped before.")
def send(
    *,
    processes: int | None,
    in_flight: int | None,
    batch: int | None,
    data: Path | None,
    public_url: str | None,
    child: UUID | None,
    in_progress: int | None,
    alone: bool,
) -> None:
    """Send queued emails until SIGTERM; then finish those in flight and release the rest."""
    settings = command_settings(
        workers=processes, in_flight=in_flight, batch=batch, data=data, public_url=public_url
    )
    configure_logging(settings.log)
    if child is not None:
        if alone:
            resource.setrlimit(resource.RLIMIT_DATA, (ALONE_MEMORY_BYTES, ALONE_MEMORY_BYTES))
        uvloop.run(_send_here(settings, launch_id=child, memory=in_progress, is_alone=alone))
        return
    uvloop.run(_send_in_children(settings))


async def _send_here(
    settings: Settings, *, launch_id: UUID, memory: int | None, is_alone: bool
) -> None:
    await _prepare(settings, is_parent=False)
    sending = load_module(SENDING)  # the parent sends nothing, and has its memory for itself
    async with signals.stop_signal(ends_with_parent=True) as stop:
        signals.relax_garbage_collection()
        signals.raise_open_files_limit()
        rows = InProgress(memory)
        MEMORY.count_in(rows.metrics())
        # Declared lost, it registers again under another number.
        while not await sending.build_send_worker(
            settings, launch_id=launch_id, in_progress=rows, is_alone=is_alone
        ).run(stop):
            if stop.is_set():
                break


async def _send_in_children(settings: Settings) -> None:
    await _prepare(settings, is_parent=True)
    async with (
        signals.stop_signal() as stop,
        supervised(stop) as tell_ready,
        worker_metrics(settings),
    ):
        await WorkerPool(settings, sending_children(settings)).run(stop, ready=tell_ready)


async def _prepare(settings: Settings, *, is_parent: bool) -> None:
    async with connect(settings.database, application_name="mailqueue/start") as conn:
        await require_current(conn, may_be_newer=not is_parent)
        if is_parent:  # not whenever a child is started again: another host may have its say since
            await keep_max_send_rate(conn, settings.workers.max_send_rate)
