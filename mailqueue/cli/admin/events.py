"""`mailqueue platform events`: events and delivery attempts of all projects."""

from datetime import UTC, datetime

import click

from mailqueue.admin import events as finding
from mailqueue.admin.events import Search
from mailqueue.cli.support.answer import execute, json_option, print_rows
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.output import Column, examples
from mailqueue.cli.support.shared_options import limit_option
from mailqueue.contract.admin import AdminEvent
from mailqueue.contract.page import Page
from mailqueue.core.errors import InvalidField
from mailqueue.core.units import parse_duration
from mailqueue.projects import manage as projects_manage

_COLUMNS = (
    Column("occurred_at", "WHEN"),
    Column("project", "PROJECT"),
    Column("type", "WHAT"),
    Column("recipient", "RECIPIENT"),
    Column("email_id", "EMAIL"),
    Column("detail", "DETAIL"),
)


@click.command(
    epilog=examples(
        "mailqueue platform events --recipient ann@example.com",
        "mailqueue platform events --project shop --type hard_bounce --within 30d",
    )
)
@click.option("--project", help="Filter by project.")
@click.option("--type", "kind", type=click.Choice(finding.TYPES), help="Filter by event type.")
@click.option("--recipient", metavar="ADDRESS", help="Filter by recipient address.")
@click.option(
    "--within",
    metavar="TIME",
    default="7d",
    show_default=True,
    help="Period to search, counted back from now, such as 30d.",
)
@limit_option(1000)
@json_option
def events(
    *,
    project: str | None,
    kind: str | None,
    recipient: str | None,
    within: str,
    limit: int,
) -> None:
    """List events and delivery attempts of emails, newest first."""
    until = datetime.now(UTC)
    try:
        since = until - parse_duration(within)
    except ValueError as exc:
        raise InvalidField("within", str(exc)) from None

    async def found(app: Opened) -> Page[AdminEvent]:
        only = None if project is None else (await projects_manage.find(app.conn, project)).id
        wanted = Search(since, until, project_id=only, type=kind, recipient=recipient)
        return (await finding.search(app.conn, wanted, after=None, limit=limit)).shown()

    listed = execute(found)
    print_rows(listed.data, _COLUMNS, document=listed)
