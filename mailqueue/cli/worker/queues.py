"""`mailqueue worker NAME...`: work on one or several queues in one process."""

import asyncio
import os
import resource
import sys
from pathlib import Path
from uuid import UUID

import click
import uvloop

from mailqueue.cli.support.output import examples
from mailqueue.cli.support.settings import command_settings
from mailqueue.cli.worker.metrics import worker_metrics
from mailqueue.core.queues.model import QueueSpec
from mailqueue.core.queues.registry import ALONE_MEMORY_BYTES, QUEUES, queue_named
from mailqueue.db.migrate import require_current
from mailqueue.db.pool import connect
from mailqueue.process import signals
from mailqueue.process.groups import queue_children
from mailqueue.process.pool import WorkerPool
from mailqueue.queue.in_progress import InProgress
from mailqueue.queue.process import run_queues
from mailqueue.queue.rights import check_permitted, permitted
from mailqueue.settings.environment import Settings
from mailqueue.telemetry.log import configure_logging, get_logger
from mailqueue.telemetry.metrics.memory import MEMORY
from mailqueue.telemetry.supervisor import supervised
from mailqueue.wiring.queues import kinds_of

THREAD_SECONDS = 5.0
"""Time for threads of handlers to end, once everything is settled."""
_NAMES = tuple(spec.name for spec in QUEUES)
log = get_logger(__name__)


def command_of(spec: QueueSpec) -> click.Command:
    """Return the command `mailqueue worker NAME`, which takes further names."""

    @click.command(
        name=spec.name,
        help=(
            f"Process {spec.work} until SIGTERM; then finish open work and release the rest.\n\n"
            "Further NAMES are queues that the same process works on. Any number of processes may "
            "run, on any number of hosts; they share the work. `mailqueue up` runs all queues."
        ),
        epilog=examples(
            f"mailqueue worker {spec.name}",
            f"mailqueue worker {' '.join(_NAMES)}",
            "DATABASE_URL=postgresql://mailqueue@db.example.com/mailqueue"
            f" mailqueue worker {spec.name}",
        ),
    )
    @click.argument("names", nargs=-1, type=click.Choice(_NAMES), metavar="[NAME]...")
    @click.option("--data", type=click.Path(path_type=Path), help="Data folder of `mailqueue up`.")
    @click.option(
        "--in-flight",
        type=click.IntRange(2, 10_000),
        help=f"Rows of each queue handled at the same time.  [default: {spec.concurrency}]",
    )
    @click.option("--public-url", hidden=True)
    @click.option("--child", type=click.UUID, hidden=True, help="Launch id, given by the parent.")
    @click.option("--in-progress", type=int, hidden=True, help="Memory file of the parent.")
    @click.option("--alone", is_flag=True, hidden=True, help="Rows whose worker stopped before.")
    @click.option("--until-idle", is_flag=True, hidden=True, help="Stop when nothing is due.")
    def command(
        *,
        names: tuple[str, ...],
        data: Path | None,
        in_flight: int | None,
        public_url: str | None,
        child: UUID | None,
        in_progress: int | None,
        alone: bool,
        until_idle: bool,
    ) -> None:
        queues = tuple(dict.fromkeys((spec.name, *names)))
        settings = command_settings(data=data, public_url=public_url)
        configure_logging(settings.log)
        if child is None:
            uvloop.run(_run_in_child(settings, queues, in_flight=in_flight))
            return
        if alone:
            resource.setrlimit(resource.RLIMIT_DATA, (ALONE_MEMORY_BYTES, ALONE_MEMORY_BYTES))
        uvloop.run(
            _run_here(
                settings,
                queues,
                in_flight=in_flight,
                launch_id=child,
                memory=in_progress,
                is_alone=alone,
                until_idle=until_idle,
            )
        )

    return command


def __getattr__(name: str) -> click.Command:
    """Return the command of the queue of that name."""
    try:
        return command_of(queue_named(name))
    except KeyError:
        raise AttributeError(name) from None


async def _run_in_child(
    settings: Settings, queues: tuple[str, ...], *, in_flight: int | None
) -> None:
    async with connect(settings.database, application_name="mailqueue/start") as conn:
        await require_current(conn, may_be_newer=False)
    await check_permitted(settings.database, queues)
    async with (
        signals.stop_signal() as stop,
        supervised(stop) as tell_ready,
        worker_metrics(settings),
    ):
        options = [] if in_flight is None else [f"--in-flight={in_flight}"]
        children = [queue_children(queues, options)]
        await WorkerPool(settings, children).run(stop, ready=tell_ready)


async def _run_here(
    settings: Settings,
    queues: tuple[str, ...],
    *,
    in_flight: int | None,
    launch_id: UUID,
    memory: int | None,
    is_alone: bool,
    until_idle: bool,
) -> None:
    async with connect(settings.database, application_name="mailqueue/start") as conn:
        await require_current(conn, may_be_newer=True)
    queues = await permitted(settings.database, queues)
    rows = InProgress(memory)
    MEMORY.count_in(rows.metrics())
    async with signals.stop_signal(ends_with_parent=True) as stop:
        await run_queues(
            settings.database,
            kinds_of(settings, queues, in_flight=in_flight),
            stop,
            launch_id=launch_id,
            in_progress=rows,
            is_alone=is_alone,
            until_idle=until_idle,
        )
    await _end_threads()


async def _end_threads() -> None:
    """Wait for threads that handlers started; end the process without those that do not end.

    Such a thread works for a row whose time was over: its outcome is written.
    """
    try:
        async with asyncio.timeout(THREAD_SECONDS):
            await asyncio.get_running_loop().shutdown_default_executor()
    except TimeoutError:
        log.warning("worker.threads_left")
        sys.stderr.flush()
        os._exit(0)
