"""`mailqueue bench`: how fast this database accepts and sends emails."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

import click
import uvloop

from mailqueue.cli.bench.sink import sink
from mailqueue.cli.support.answer import json_option, print_result
from mailqueue.cli.support.app import opened
from mailqueue.cli.support.output import examples, facts
from mailqueue.contract.processes import Accepting, Benchmark, Sending
from mailqueue.operations import bench as measuring
from mailqueue.settings.environment import Settings
from mailqueue.settings.logs import LogFormat, LogLevel, LogSettings
from mailqueue.telemetry.log import configure_logging
from mailqueue.wiring import sending


@click.command(
    epilog=examples("mailqueue bench", "mailqueue bench --count 20000", "mailqueue bench --json")
)
@click.option(
    "--count",
    type=click.IntRange(1000, 1_000_000),
    default=5000,
    show_default=True,
    help="Number of emails of 5 kB to queue and to send to a local test server.",
)
@click.option("--yes", is_flag=True, help="Measure even if emails are queued or workers run.")
@json_option
def bench(*, count: int, yes: bool) -> None:
    """Measure accepting and sending on this database, with one worker process.

    The emails belong to a temporary project named bench-…, which is deleted afterwards. No email
    leaves this machine.
    """
    configure_logging(LogSettings(LogLevel.ERROR, LogFormat.AUTO))
    with sink() as port:
        accepting, sending = uvloop.run(_measured(port, count, is_forced=yes))
    words = measuring.words(accepting, sending)
    print_result(
        Benchmark(accepting, sending, words),
        lambda: _print(accepting, sending, words),
    )


async def _measured(port: int, count: int, *, is_forced: bool) -> tuple[Accepting, Sending]:
    async with opened() as app:
        trial = measuring.trial(app.conn, port=port, is_forced=is_forced)
        async with trial as mine:
            accepting = await measuring.accept(app.conn, mine, count=count)
            async with _worker(app.settings) as is_over:
                sending = await measuring.sent(app.conn, mine, count=count, is_over=is_over)
    return accepting, sending


@asynccontextmanager
async def _worker(settings: Settings) -> AsyncIterator[asyncio.Event]:
    """Run a worker in this process while the block runs; yield a check that it still runs."""
    stop, is_over = asyncio.Event(), asyncio.Event()
    send_worker = sending.build_send_worker(settings, launch_id=uuid4())
    running = asyncio.create_task(send_worker.run(stop))
    running.add_done_callback(lambda _: is_over.set())
    try:
        yield is_over
    finally:
        stop.set()
        await running


def _print(accepting: Accepting, sending: Sending, words: list[str]) -> None:
    facts(
        (
            ("round trip", f"{accepting.round_trip_ms:.2f} ms"),
            ("accept one, commit", f"{accepting.single_ms:.2f} ms"),
            ("accept in batches", f"{accepting.batch_per_second:,.0f} emails per second"),
            ("send, 1 process", f"{sending.per_second:,.0f} emails per second"),
            ("worker CPU", f"{sending.cpu_us:.0f} us a mail, busy {sending.cpu_share:.0%}"),
        )
    )
    click.echo()
    for sentence in words:
        click.echo(sentence)
