"""`mailqueue restored`: hold emails that may have been sent since the backup."""

from datetime import datetime

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.app import opened, run
from mailqueue.cli.support.output import emit, examples, json_option
from mailqueue.cli.support.progress import progress
from mailqueue.core.errors import InvalidField
from mailqueue.operations import restored as held_back
from mailqueue.operations.model import Done


@click.command(
    epilog=examples(
        "mailqueue restored --from 2030-05-01T04:00+02:00 --dry-run",
        "mailqueue restored --from 2030-05-01T04:00+02:00",
    )
)
@click.option(
    "--from",
    "since",
    required=True,
    metavar="INSTANT",
    help="Point in time that the backup restores.",
)
@click.option("--dry-run", is_flag=True, help="Print how many would be held and change nothing.")
@json_option
def restored(*, since: str, dry_run: bool, as_json: bool) -> None:
    """After a restore from backup, hold all emails that may have been sent since.

    Run it before workers start; it fails while one runs. Then read the view mailqueue.held:
    release the emails that were not sent, and cancel or resolve those that were.
    """
    moment = _moment(since)
    found = run(_counted(moment))
    done = None if dry_run else run(_held(moment, found))
    if as_json:
        operation = done.operation if done else None
        emit({"emails": done.emails if done else found, "operation": operation, "dry_run": dry_run})
    elif done is None:
        click.echo(f"{found} would be held")
    else:
        click.echo(f"{done.emails} held")


def _moment(text: str) -> datetime:
    """Return a point in time; without a zone it is local time."""
    try:
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError):
        raise InvalidField(
            "from", f"must be a point in time such as 2030-01-31T08:00+01:00, got {text!r}"
        ) from None


async def _counted(since: datetime) -> int:
    async with opened() as app:
        return await held_back.count(app.conn, since)


async def _held(since: datetime, found: int) -> Done:
    with progress("holding", found) as advance:
        async with opened() as app:
            return await held_back.hold(app.conn, since, by=operator(), advance=advance)
