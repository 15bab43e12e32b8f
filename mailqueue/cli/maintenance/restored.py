"""`mailqueue restored`: hold emails that may have been sent since the backup."""

from datetime import datetime

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_message
from mailqueue.cli.support.app import opened, run
from mailqueue.cli.support.output import examples
from mailqueue.cli.support.progress import progress
from mailqueue.contract.operations import BulkResult, RestoreHold
from mailqueue.core.errors import InvalidField
from mailqueue.operations import restored as held_back


@click.command(
    epilog=examples(
        "mailqueue restored --from 2030-05-01T04:00+02:00 --dry-run",
        "mailqueue restored --from 2030-05-01T04:00+02:00",
        "mailqueue restored --nothing-lost",
    )
)
@click.option("--from", "since", metavar="INSTANT", help="Point in time that the backup restores.")
@click.option(
    "--nothing-lost",
    is_flag=True,
    help="Hold nothing: all that was sent is in this database, which was moved or promoted.",
)
@click.option("--dry-run", is_flag=True, help="Print how many would be held and change nothing.")
@json_option
def restored(*, since: str | None, nothing_lost: bool, dry_run: bool) -> None:
    """After a restore from backup, hold all emails that may have been sent since.

    No email is sent from a restored database before. Run it before workers start; it fails while
    one runs. Then read the view mailqueue.held: release the emails that were not sent, and cancel
    or resolve those that were.
    """
    if (since is None) is not nothing_lost:
        raise click.UsageError("give either --from or --nothing-lost")
    if since is None:
        _accept(dry_run=dry_run)
    else:
        _hold(_moment(since), dry_run=dry_run)


def _accept(*, dry_run: bool) -> None:
    if dry_run:
        raise click.UsageError("--nothing-lost holds nothing: it has no --dry-run")
    done = execute(lambda app: held_back.accept(app.conn, by=operator()))
    document = RestoreHold(emails=0, operation=done.operation, dry_run=False)
    print_message(document, "emails are sent from this database; none is held")


def _hold(moment: datetime, *, dry_run: bool) -> None:
    found = execute(lambda app: held_back.count(app.conn, moment))
    done = None if dry_run else run(_held(moment, found))
    document = RestoreHold(
        emails=done.emails if done else found,
        operation=done.operation if done else None,
        dry_run=dry_run,
    )
    text = f"{found} would be held" if done is None else f"{done.emails} held"
    print_message(document, text)


def _moment(text: str) -> datetime:
    """Return a point in time; without a zone it is local time."""
    try:
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError):
        raise InvalidField(
            "from", f"must be a point in time such as 2030-01-31T08:00+01:00, got {text!r}"
        ) from None


async def _held(since: datetime, count: int) -> BulkResult:
    with progress("holding", count) as advance:
        async with opened() as app:
            return await held_back.hold(app.conn, since, by=operator(), advance=advance)
