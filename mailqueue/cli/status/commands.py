"""`mailqueue status`: lanes, accounts, workers and counts, once or repeatedly."""

import asyncio
import sys
from datetime import timedelta

import click

from mailqueue.cli.status.view import print_overview, rendered
from mailqueue.cli.support.app import opened, run
from mailqueue.cli.support.output import emit, examples, json_option
from mailqueue.operations.overview import look

DEFAULT_SECONDS = 2.0
SHORTEST_SECONDS = 0.2


@click.command(
    epilog=examples(
        "mailqueue status",
        "mailqueue status --watch",
        "mailqueue status --watch 0.5",
        "mailqueue status --json",
    )
)
@click.option(
    "--watch",
    is_flag=False,
    flag_value=DEFAULT_SECONDS,
    type=click.FloatRange(min=SHORTEST_SECONDS),
    metavar="[SECONDS]",
    help=f"Refresh every {DEFAULT_SECONDS:g} seconds, or as many as given, until Ctrl-C.",
)
@json_option
def status(*, watch: float | None, as_json: bool) -> None:
    """Show lanes, sender accounts, workers and the number of emails in each status."""
    if watch is None:
        run(_once(as_json=as_json))
        return
    pause = timedelta(seconds=watch)
    try:
        # A terminal gets one picture that changes; a pipe or --json one document after the other.
        live = not as_json and sys.stdout.isatty()
        run(_live(pause) if live else _again_and_again(pause, as_json=as_json))
    except KeyboardInterrupt:
        return  # the way to end it


async def _once(*, as_json: bool) -> None:
    async with opened() as app:
        overview = await look(app.conn)
    if as_json:
        emit(overview)
    else:
        print_overview(overview)


async def _again_and_again(pause: timedelta, *, as_json: bool) -> None:
    async with opened() as app:
        while True:
            overview = await look(app.conn)
            if as_json:
                emit(overview)
            else:
                print_overview(overview)
                click.echo()
            sys.stdout.flush()
            await asyncio.sleep(pause.total_seconds())


async def _live(pause: timedelta) -> None:
    from rich.live import Live

    async with opened() as app:
        # Redrawn only when there is news: its own refresh thread would show the same again.
        with Live(rendered(await look(app.conn)), auto_refresh=False, screen=False) as live:
            while True:
                live.update(rendered(await look(app.conn)), refresh=True)
                await asyncio.sleep(pause.total_seconds())
