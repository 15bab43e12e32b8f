"""`mailqueue stats verify`, `rebuild` and `progress`: counts compared with history."""

from dataclasses import asdict
from datetime import datetime

import click

from mailqueue.analytics import upkeep
from mailqueue.cli.analytics.printing import print_verification
from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import (
    execute,
    json_option,
    print_facts,
    print_message,
    print_result,
)
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.confirmation import asks_first
from mailqueue.cli.support.instants import PastInstant
from mailqueue.cli.support.output import examples
from mailqueue.contract.counts import StatsProgress, StatsVerification

_FAILED = 1


@click.command(epilog=examples("mailqueue stats verify --from 7d"))
@click.option("--from", "since", type=PastInstant(), help="Start; as far as history is complete.")
@click.option("--to", "until", type=PastInstant(), help="End; now by default.")
@json_option
def verify(*, since: datetime | None, until: datetime | None) -> None:
    """Count history again and compare every count; exit with 1 if one differs."""

    async def found(app: Opened) -> StatsVerification:
        return [one async for one in upkeep.verify(app.conn, since, until)][-1]

    answer = execute(found)
    print_result(answer, lambda: print_verification(answer))
    if answer.differences:
        raise click.exceptions.Exit(_FAILED)


@click.command(epilog=examples("mailqueue stats rebuild --from 7d --yes"))
@click.option("--from", "since", type=PastInstant(), help="Start; as far as history is complete.")
@asks_first("Delete the counts from then on and count anew from history?")
@json_option
def rebuild(*, since: datetime | None) -> None:
    """Count anew from history; a worker does it, `mailqueue stats progress` shows how far it is."""

    async def begun(app: Opened) -> StatsProgress:
        await upkeep.rebuild(app.conn, since, by=operator())
        return await upkeep.progress(app.conn)

    answer = execute(begun)
    print_message(answer, f"counts from {answer.rebuilt_from:%Y-%m-%d} on are made anew")


@click.command(epilog=examples("mailqueue stats progress"))
@json_option
def progress() -> None:
    """Show up to which time is counted, and how far counting anew has come."""

    async def found(app: Opened) -> StatsProgress:
        return await upkeep.progress(app.conn)

    answer = execute(found)
    print_facts(answer, [(key.replace("_", " "), value) for key, value in asdict(answer).items()])
