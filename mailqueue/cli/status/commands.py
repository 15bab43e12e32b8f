"""`mailqueue status`: lanes, accounts, workers and counts, once or repeatedly."""

import asyncio
import sys
from datetime import timedelta

import click

from mailqueue.cli.status.remote import readiness_of
from mailqueue.cli.status.view import print_overview, rendered
from mailqueue.cli.support.answer import (
    execute,
    json_option,
    print_message,
    print_result,
    prints_json,
)
from mailqueue.cli.support.app import opened, run
from mailqueue.cli.support.output import examples
from mailqueue.contract.operations import Overview
from mailqueue.operations.overview import look

DEFAULT_SECONDS = 2.0
SHORTEST_SECONDS = 0.2


@click.command(
    epilog=examples(
        "mailqueue status",
        "mailqueue status --watch",
        "mailqueue status --project shop --watch 0.5",
        "mailqueue status --json",
        "mailqueue status --url http://127.0.0.1:8025",
    )
)
@click.option(
    "--watch",
    is_flag=False,
    flag_value=DEFAULT_SECONDS,
    type=click.FloatRange(min=SHORTEST_SECONDS),
    metavar="[SECONDS]",
    help=f"Refresh every {DEFAULT_SECONDS:g} seconds, or every SECONDS, until Ctrl-C.",
)
@click.option(
    "--project",
    help="Show lanes and accounts of one project, and count its emails.  [default: all projects]",
)
@click.option(
    "--url",
    help="Ask this API over HTTP whether it answers and accepts mail, without a database; exit 1 "
    "if it does not.",
)
@json_option
@click.pass_context
def status(
    ctx: click.Context, *, watch: float | None, project: str | None, url: str | None
) -> None:
    """Show lanes, sender accounts, workers and the number of emails in each status."""
    if url is not None:
        if watch is not None or project is not None:
            raise click.UsageError("--url goes with --json alone")
        found = readiness_of(url)
        words = "ready" if found.is_ready else "alive, not ready" if found.is_alive else "no answer"
        why = "" if found.reason is None else f": {found.reason}"
        print_message(found, f"{found.url}: {words}{why}")
        ctx.exit(0 if found.is_ready else 1)
    if watch is None:
        _print(execute(lambda app: look(app.conn, project=project)))
        return
    pause = timedelta(seconds=watch)
    try:
        # A terminal gets one picture that changes; a pipe or --json one document after the other.
        live = not prints_json() and sys.stdout.isatty()
        run(_live(pause, project) if live else _again_and_again(pause, project))
    except KeyboardInterrupt:
        return  # the way to end it


async def _again_and_again(pause: timedelta, project: str | None) -> None:
    async with opened() as app:
        while True:
            overview = await look(app.conn, project=project)
            _print(overview)
            if not prints_json():
                click.echo()
            sys.stdout.flush()
            await asyncio.sleep(pause.total_seconds())


async def _live(pause: timedelta, project: str | None) -> None:
    from rich.live import Live

    async with opened() as app:
        # Redrawn only when there is news: its own refresh thread would show the same again.
        first = rendered(await look(app.conn, project=project))
        with Live(first, auto_refresh=False, screen=False) as live:
            while True:
                live.update(rendered(await look(app.conn, project=project)), refresh=True)
                await asyncio.sleep(pause.total_seconds())


def _print(overview: Overview) -> None:
    print_result(overview, lambda: print_overview(overview))
