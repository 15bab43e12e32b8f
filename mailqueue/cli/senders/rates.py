"""`mailqueue sender rates`: bounce and complaint rates of accounts, and their thresholds."""

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_rows
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.output import Column, examples
from mailqueue.contract.senders import BounceRates
from mailqueue.events.rates.thresholds import ThresholdsChange, list_rates, rates_of, set_thresholds
from mailqueue.senders import accounts

_COLUMNS = (
    Column("project", "PROJECT"),
    Column("sender", "SENDER"),
    Column("status", "STATUS"),
    Column("sent", "SENT", numeric=True),
    Column("hard_bounces", "BOUNCED", numeric=True),
    Column("bounce_rate", "%", numeric=True),
    Column("complaints", "COMPLAINTS", numeric=True),
    Column("complaint_rate", "%", numeric=True),
    Column("about_us", "BLAME US", numeric=True),
    Column("state", "STATE"),
    Column("since", "SINCE"),
)


@click.command(
    epilog=examples(
        "mailqueue sender rates",
        "mailqueue sender rates relay --json",
        "mailqueue sender rates relay --bounce-pause 8 --complaint-warn 0.05",
        "mailqueue sender rates relay --bounce-pause 0",
    )
)
@click.argument("name", required=False)
@click.option(
    "--project", help="Project of the account.  [default: with NAME, default; otherwise all]"
)
@click.option(
    "--bounce-warn",
    type=float,
    metavar="PERCENT",
    help="Hard bounce rate that raises a warning; 0: none.",
)
@click.option(
    "--bounce-pause",
    type=float,
    metavar="PERCENT",
    help="Hard bounce rate that pauses the account; 0: never.",
)
@click.option(
    "--complaint-warn",
    type=float,
    metavar="PERCENT",
    help="Complaint rate that raises a warning; 0: none.",
)
@click.option(
    "--complaint-pause",
    type=float,
    metavar="PERCENT",
    help="Complaint rate that pauses the account; 0: never.",
)
@json_option
def rates(*, name: str | None, project: str | None, **thresholds: float | None) -> None:
    """Show bounce and complaint rates, or set the thresholds that warn and pause.

    `mailqueue sender resume` resumes a paused account; its rates are then counted from zero.
    """
    change = ThresholdsChange(**thresholds)
    if name is None and change != ThresholdsChange():
        raise click.UsageError("NAME is missing: give the account whose thresholds change")
    found = execute(lambda app: _rates(app, name, project, change))
    print_rows(found, _COLUMNS, document=found if name is None else found[0])


async def _rates(
    app: Opened, name: str | None, project: str | None, change: ThresholdsChange
) -> list[BounceRates]:
    if name is None:
        return await list_rates(app.conn, project=project)
    account = await accounts.find(app.conn, project or "default", name=name)
    if change == ThresholdsChange():
        return [await rates_of(app.conn, account)]
    return [await set_thresholds(app.conn, account, change=change, by=operator())]
