"""Counts what work costs: `python -m tests.cost`; with `--write` the figures become the bounds."""

import asyncio

import click

from mailqueue.settings.logs import LogFormat, LogLevel, LogSettings
from mailqueue.telemetry.log import configure_logging
from tests import scratch
from tests.cost.bounds import FILE, over, read_bounds, report, write_bounds
from tests.cost.measure import measure
from tests.cost.work import CASES


@click.command()
@click.argument("words", nargs=-1)
@click.option("--repeat", default=1, show_default=True, help="Times to count; shows the spread.")
@click.option("--write", is_flag=True, help=f"Write the bounds of these cases into {FILE.name}.")
def main(*, words: tuple[str, ...], repeat: int, write: bool) -> None:
    """Count what one unit of work costs; exit 1 where a figure is above its bound.

    With WORDS only the cases whose names contain one of them.
    """
    configure_logging(LogSettings(LogLevel.ERROR, LogFormat.AUTO))
    scratch.keep_in_memory()
    cases = [case for case in CASES if not words or any(word in case.name for word in words)]
    runs = asyncio.run(measure(cases, repeat=repeat))
    click.echo("\n".join(report(runs, read_bounds())))
    if write:
        write_bounds(runs)
        return
    if found := over(runs, read_bounds()):
        raise click.ClickException("\n".join(found))


if __name__ == "__main__":
    main()
