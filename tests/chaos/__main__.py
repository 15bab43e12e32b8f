"""Runs scenarios of any size and prints the result of each: `scripts/chaos`."""

import asyncio
import sys

import click

from mailqueue.settings.logs import LogFormat, LogLevel, LogSettings
from mailqueue.telemetry.log import configure_logging
from tests.chaos.catalogue import SCENARIOS, Scenario
from tests.chaos.result import ScenarioResult
from tests.chaos.sandbox import ScenarioSize
from tests.chaos.server import reachable_folder, shipped_in
from tests.concurrency.running import Shipped

LINE = "{:<24}{:<30}{:>8}{:>10}{:>10}{:>6}{:>12}{:>9}{:>9}"
HEAD = ("scenario", "fault", "faults", "accepted", "delivered", "lost", "duplicated", "unknown")


@click.command()
@click.argument("names", nargs=-1, type=click.Choice([each.name for each in SCENARIOS]))
@click.option("--mails", type=click.IntRange(100), help="Mails accepted in each scenario.")
@click.option("--minutes", type=click.FloatRange(0.0), help="They are accepted over this long.")
@click.option("--server-version", type=int, help="Major version of PostgreSQL to run on.")
def main(
    *, names: tuple[str, ...], mails: int | None, minutes: float | None, server_version: int | None
) -> None:
    """Break things on purpose and count what was lost; exit 1 when a promise is broken.

    Without NAMES all scenarios run; without sizes, as short as the tests run them.
    """
    configure_logging(LogSettings(LogLevel.ERROR, LogFormat.AUTO))
    wanted = [each for each in SCENARIOS if not names or each.name in names]
    click.echo(LINE.format(*HEAD, "seconds"))
    with (
        reachable_folder() as folder,
        shipped_in(folder / "server", major=server_version) as server,
    ):
        found = [_run(each, server, mails, minutes) for each in wanted]
    broken = [each for each in found if each.broken]
    ran = sum(not each.left_out for each in found)
    click.echo(f"{ran} scenarios ran, {len(broken)} broke a promise, {len(found) - ran} left out")
    sys.exit(1 if broken else 0)


def _run(
    scenario: Scenario, server: Shipped, mails: int | None, minutes: float | None
) -> ScenarioResult:
    short = scenario.short
    seconds = short.seconds if minutes is None else minutes * 60
    size = ScenarioSize(short.mails if mails is None else mails, seconds)
    try:
        found = asyncio.run(scenario.on(server, size))
    except AssertionError as exc:  # something that is only a matter of time did not happen
        found = ScenarioResult(scenario.name, "", 0, 0, broken=[str(exc)])
    _print(found)
    return found


def _print(found: ScenarioResult) -> None:
    if found.left_out:
        click.echo(f"{found.scenario:<24}LEFT OUT: {found.left_out}")
        return
    counts = (found.faults, found.accepted, found.delivered, found.lost, found.duplicated)
    click.echo(
        LINE.format(found.scenario, found.fault, *counts, found.unknown, f"{found.seconds:.1f}")
    )
    for words in found.broken[:20]:
        click.echo(f"    BROKEN: {words}")


if __name__ == "__main__":
    main()
