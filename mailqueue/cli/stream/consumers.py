"""`mailqueue consumers`: what reads the stream of events, and handling events again."""

from datetime import datetime

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_message, print_rows
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.instants import PastInstant
from mailqueue.cli.support.output import Column, examples
from mailqueue.contract.automation.consumers import ConsumerReplay, ConsumerStates
from mailqueue.core.consumers import CONSUMERS
from mailqueue.stream import consumers as readers

_COLUMNS = (
    Column("name", "CONSUMER"),
    Column("position", "POSITION", numeric=True),
    Column("waiting", "WAITING", numeric=True),
    Column("waiting_since", "SINCE"),
    Column("handled_at", "HANDLED"),
    Column("skipped", "SKIPPED", numeric=True),
    Column("left_out", "LEFT OUT", numeric=True),
    Column("last_error", "ERROR"),
)


@click.group(
    cls=CommandGroup,
    epilog=examples(
        "mailqueue consumers list", "mailqueue consumers replay webhooks --since 1h --dry-run"
    ),
)
def consumers() -> None:
    """Show what reads the stream of events, and have events handled again."""


@consumers.command("list", epilog=examples("mailqueue consumers list"))
@json_option
def list_() -> None:
    """List the consumers, and how far each is behind."""

    async def found(app: Opened) -> ConsumerStates:
        return ConsumerStates(await readers.list_all(app.conn))

    answer = execute(found)
    print_rows(answer.consumers, _COLUMNS, document=answer)


@consumers.command(
    epilog=examples(
        "mailqueue consumers replay webhooks --since 1h --dry-run",
        "mailqueue consumers replay webhooks --since 1h",
    )
)
@click.argument("name", metavar="NAME", type=click.Choice([one.name for one in CONSUMERS]))
@click.option(
    "--since",
    required=True,
    type=PastInstant(),
    help="Events written since this time, or within an age such as 1h.",
)
@click.option("--dry-run", is_flag=True, help="Only count them.")
@json_option
def replay(*, name: str, since: datetime, dry_run: bool) -> None:
    """Have consumer NAME handle again the events written since a time."""

    async def replayed(app: Opened) -> ConsumerReplay:
        return await readers.replay(app.conn, name, since, is_dry=dry_run, by=operator())

    answer = execute(replayed)
    begun = "would be handled" if dry_run else "are handled"
    print_message(answer, f"{answer.events} events {begun} again by {name}")
