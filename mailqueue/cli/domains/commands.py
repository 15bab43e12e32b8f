"""`mailqueue domain`: sending rates to recipient domains."""

import click

from mailqueue.cli.support.answer import execute, json_option, print_rows
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import Column, examples
from mailqueue.contract.senders import Rate
from mailqueue.core.errors import InvalidField
from mailqueue.core.units import parse_rate
from mailqueue.senders import rates

_COLUMNS = (
    Column("holds_for", "FOR"),
    Column("rate_per_second", "A SECOND", numeric=True),
    Column("burst", "BURST", numeric=True),
    Column("used_up_until", "USED UP UNTIL"),
    Column("note", "NOTE"),
)


@click.group(
    cls=CommandGroup,
    epilog=examples("mailqueue domain rate example.com 5/s", "mailqueue domain list"),
)
def domain() -> None:
    """Limit the sending rate to recipient domains, for all projects together."""


@domain.command(
    epilog=examples(
        "mailqueue domain rate example.com 5/s --note 'they throttle us'",
        "mailqueue domain rate example.com 300/min --burst 20",
        "mailqueue domain rate example.com none",
    )
)
@click.argument("name", metavar="DOMAIN")
@click.argument("to", metavar="RATE|none")
@click.option(
    "--burst",
    type=int,
    help="Recipients that may be sent at once above the rate.  [default: one second's worth]",
)
@click.option("--note", help="Note for the operators, such as the reason.")
@json_option
def rate(*, name: str, to: str, burst: int | None, note: str | None) -> None:
    """Limit mail to DOMAIN to RATE (5/s, 300/min, 1000/h), of all projects together.

    Emails above the rate wait without an attempt. Emails to other domains are not affected.
    RATE none removes the limit.
    """
    per_second = None if to.lower() == "none" else _per_second(to)
    found = execute(lambda app: _changed(app, name, per_second, burst, note))
    print_rows(found, _COLUMNS)


@domain.command("list", epilog=examples("mailqueue domain list", "mailqueue domain list --json"))
@json_option
def list_() -> None:
    """List rate limits of recipient domains, and the limit of the whole installation."""
    print_rows(execute(lambda app: rates.list_rates(app.conn)), _COLUMNS)


async def _changed(
    app: Opened, name: str, per_second: float | None, burst: int | None, note: str | None
) -> list[Rate]:
    if per_second is None:
        await rates.lift_domain_rate(app.conn, name)
    else:
        await rates.set_domain_rate(app.conn, name, rate=per_second, burst=burst, note=note)
    return await rates.list_rates(app.conn)


def _per_second(text: str) -> float:
    try:
        return parse_rate(text)
    except ValueError as exc:
        raise InvalidField("rate", f"{exc}, or none") from None
