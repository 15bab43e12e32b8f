"""`mailqueue email list`: emails of a project by recipient and other filters."""

from dataclasses import replace
from datetime import datetime
from typing import Any, get_args
from uuid import UUID

import click

from mailqueue.cli.support.answer import execute, json_option, print_result
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.instants import PastInstant
from mailqueue.cli.support.output import Column, examples, table
from mailqueue.cli.support.paging import read_page
from mailqueue.cli.support.shared_options import limit_option
from mailqueue.contract.emails import ListedEmail
from mailqueue.contract.page import Page
from mailqueue.core.errors import InvalidField
from mailqueue.core.paging import key_of
from mailqueue.mail.reads import emails
from mailqueue.mail.reads.custom_data import DataFilter, parse_filter
from mailqueue.mail.reads.model import EmailQuery, StatusName
from mailqueue.projects import manage as projects

_COLUMNS = (
    Column("created_at", "ACCEPTED"),
    Column("status", "STATUS"),
    Column("to", "TO"),
    Column("subject", "SUBJECT"),
    Column("sender", "SENDER"),
    Column("id", "ID"),
)


def _data_filter(text: str | None) -> DataFilter | None:
    """Return the filter that a text is; report a usage error for other text."""
    try:
        return None if text is None else parse_filter(text)
    except InvalidField as exc:
        raise click.BadParameter(exc.why) from exc


@click.command(
    "list",
    epilog=examples(
        "mailqueue email list --to ann@example.com",
        "mailqueue email list --project shop --status failed --since 2d",
        "mailqueue email list --tag invoice --since 2030-05-01T00:00:00Z --json",
        "mailqueue email list --custom-data order=81",
    ),
)
@click.option("--project", default="default", show_default=True, help="Project of the emails.")
@click.option(
    "--contains", metavar="TEXT", help="Filter by a part of the subject or of the first recipient."
)
@click.option("--to", metavar="ADDRESS", help="Filter by recipient: to, cc or bcc.")
@click.option("--status", type=click.Choice(get_args(StatusName)), help="Filter by status.")
@click.option("--sender", metavar="NAME", help="Filter by sender account that sent or tried it.")
@click.option(
    "--from",
    "sent_from",
    metavar="ADDRESS",
    help="Filter by From address, if the email itself sets one.",
)
@click.option("--tag", metavar="TAG", help="Filter by tag.")
@click.option("--campaign", metavar="ID", help="Filter by campaign.")
@click.option("--category", metavar="CATEGORY", help="Filter by category, such as marketing.")
@click.option("--template", metavar="SLUG", help="Filter by template.")
@click.option("--provider", metavar="PROVIDER", help="Filter by provider of the sender account.")
@click.option("--batch", type=click.UUID, metavar="ID", help="Filter by batch.")
@click.option(
    "--custom-data",
    metavar="KEY=VALUE",
    callback=lambda _ctx, _param, text: _data_filter(text),
    help="Filter by custom data that contains this value, or this JSON object.",
)
@click.option(
    "--since",
    type=PastInstant(),
    metavar="TIME",
    help="Accepted then or later: an age such as 2d, or a timestamp with an offset.",
)
@click.option(
    "--until",
    type=PastInstant(),
    metavar="TIME",
    help="Accepted before then: an age or a timestamp, as for --since.",
)
@limit_option(1000)
@click.option("--cursor", help="Continue the list: `next_cursor` of the previous page.")
@json_option
def list_(*, project: str, cursor: str | None, limit: int, **filters: Any) -> None:
    """List emails of a project, newest first."""
    (behind,) = key_of(cursor, UUID)

    async def listed(app: Opened) -> Page[ListedEmail]:
        found = await projects.find(app.conn, project)
        query = EmailQuery(project_id=found.id, **filters)

        async def read(before: UUID | None, rows: int) -> list[ListedEmail]:
            return await emails.list_page(app.conn, replace(query, before=before, limit=rows))

        return await read_page(read, limit, key=lambda one: one.id, behind=behind)

    page = execute(listed)
    print_result(page, lambda: _print(page, project))


def _print(page: Page[ListedEmail], project: str) -> None:
    if not page.data:
        click.echo(f"No email of project {project} matches.")
        return
    table([_row(one) for one in page.data], _COLUMNS)
    if page.next_cursor is not None:
        click.echo(f"There are more: repeat the command with --cursor {page.next_cursor}", err=True)


def _row(one: ListedEmail) -> dict[str, str | datetime | UUID | None]:
    others = one.recipients - 1
    return {
        "created_at": one.created_at,
        "status": one.status,
        "to": f"{one.recipient_email} and {others} more" if others > 0 else one.recipient_email,
        "subject": one.subject,
        "sender": one.sender,
        "id": one.id,
    }
