"""`mailqueue activity`: which sender account is slow, and how many attempts are made a minute."""

import click

from mailqueue.cli.support.answer import execute, json_option, print_result
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.output import Column, examples, table
from mailqueue.contract.activity import SendingActivity
from mailqueue.operations.activity import Activity
from mailqueue.projects import manage as projects_manage

MAX_MINUTES = 10
"""Newest minutes that are shown; --json has all that were read."""
_ACCOUNTS = (
    Column("sender", "ACCOUNT"),
    Column("project", "PROJECT"),
    Column("provider", "PROVIDER"),
    Column("median_ms", "HALF WITHIN MS", numeric=True),
    Column("p95_ms", "95 % WITHIN MS", numeric=True),
    Column("attempts", "ATTEMPTS", numeric=True),
    Column("deferred", "DEFERRED", numeric=True),
    Column("bounced", "BOUNCED", numeric=True),
    Column("failed", "FAILED", numeric=True),
)
_MINUTES = (
    Column("since", "MINUTE"),
    Column("sent", "SENT", numeric=True),
    Column("deferred", "DEFERRED", numeric=True),
    Column("bounced", "BOUNCED", numeric=True),
    Column("failed", "FAILED", numeric=True),
)


@click.command(
    epilog=examples(
        "mailqueue activity", "mailqueue activity --project shop", "mailqueue activity --json"
    )
)
@click.option("--project", help="Show one project.  [default: all projects]")
@json_option
def activity(*, project: str | None) -> None:
    """Show how fast servers answer, how many attempts fail, and attempts a minute.

    The slowest sender account comes first. Times are those of attempts of at most the last hour.
    """

    async def read(app: Opened) -> SendingActivity:
        only = None if project is None else await projects_manage.find(app.conn, project)
        current = Activity()
        await current.refresh(app.conn)
        if only is None:
            return current.snapshot().sending()
        return current.snapshot(only.id, only.name).sending()

    found = execute(read)

    def as_text() -> None:
        if not found.accounts:
            click.echo("no attempt to send within the hour")
            return
        table(found.accounts, _ACCOUNTS)
        click.echo()
        table(found.minutes[-MAX_MINUTES:], _MINUTES)

    print_result(found, as_text)
