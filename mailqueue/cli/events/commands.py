"""`mailqueue event`: deliveries, bounces, complaints, opens and clicks."""

from dataclasses import replace
from datetime import datetime
from uuid import UUID

import click

from mailqueue.cli.events.received import raw, received, retry
from mailqueue.cli.inbox.events import deliver, inbox, print_deliveries, replay
from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_result, print_rows
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import Column, examples, facts
from mailqueue.cli.support.paging import read_page
from mailqueue.cli.support.shared_options import limit_option
from mailqueue.contract.automation.inbox import InboxEventDetail
from mailqueue.contract.emails import RecipientEvent, RecordedEvent
from mailqueue.contract.operations import Notice
from mailqueue.contract.page import Page
from mailqueue.core.errors import NotFound
from mailqueue.events import listing
from mailqueue.events.model import EventQuery, Type
from mailqueue.inbox import events
from mailqueue.projects.ids import project_id_of

_TYPES = sorted(
    {*(one.value for one in Type), "suppressed", "expired", "cancelled", "held", "resolved"}
)
_COLUMNS = (
    Column("occurred_at", "WHEN"),
    Column("type", "WHAT"),
    Column("recipient_email", "RECIPIENT"),
    Column("source", "SAYS"),
    Column("code", "CODE"),
    Column("detail", "DETAIL"),
    Column("email_id", "EMAIL"),
)
_MOMENTS = (
    Column("occurred_at", "WHEN"),
    Column("type", "WHAT"),
    Column("subject", "SUBJECT"),
    Column("source", "SAYS"),
    Column("detail", "DETAIL"),
    Column("email_id", "EMAIL"),
)
_NOTICES = (
    Column("noticed_at", "WHEN"),
    Column("project", "PROJECT"),
    Column("kind", "WHAT"),
    Column("sender", "SENDER"),
    Column("told", "TOLD"),
    Column("email_id", "EMAIL"),
)


@click.group(
    cls=CommandGroup,
    epilog=examples(
        "mailqueue event list --type hard_bounce",
        "mailqueue event list --address ann@example.com",
        "mailqueue event notices",
        "mailqueue event received --status failed",
        "mailqueue event inbox --status failed",
    ),
)
def event() -> None:
    """Show events of emails, webhook requests of providers, and events of other services."""


def _id_of_email(context: click.Context, option: click.Parameter, text: str | None) -> UUID | None:
    if text is not None and "@" in text:
        raise click.BadParameter(f"is the id of an email: for an address, give --address {text}")
    return None if text is None else click.UUID.convert(text, option, context)


@event.command(
    "list",
    epilog=examples(
        "mailqueue event list --type complaint --limit 10",
        "mailqueue event list --email 01a1fa63-f208-77fe-bf7d-a53999e93a6e",
        "mailqueue event list --address ann@example.com --project shop --json",
    ),
)
@click.option(
    "--project", help="Filter by project.  [default: all; with --address: the project default]"
)
@click.option("--email", callback=_id_of_email, metavar="ID", help="Filter by id of the email.")
@click.option("--address", help="Filter by recipient address.")
@click.option("--type", "type_", type=click.Choice(_TYPES), help="Filter by event type.")
@limit_option()
@json_option
def list_(
    *,
    project: str | None,
    email: UUID | None,
    address: str | None,
    type_: str | None,
    limit: int,
) -> None:
    """List events, newest first."""
    if address is not None and (email is not None or type_ is not None):
        raise click.UsageError("--address can only be combined with --project and --limit")
    if address is not None:
        told = execute(lambda app: _of_address(app, project or "default", address, limit))
        print_rows(told.data, _MOMENTS, document=told)
        return
    query = EventQuery(email_id=email, project=project, type=type_)
    found = execute(lambda app: _listed(app, query, limit))
    print_rows(found.data, _COLUMNS, document=found)


async def _listed(app: Opened, query: EventQuery, limit: int) -> Page[RecordedEvent]:
    async def read(before: UUID | None, rows: int) -> list[RecordedEvent]:
        return await listing.list_events(app.conn, replace(query, before=before, limit=rows))

    return await read_page(read, limit, key=lambda one: one.id)


async def _of_address(app: Opened, project: str, address: str, limit: int) -> Page[RecipientEvent]:
    project_id = await project_id_of(app.conn, project)

    async def read(before: tuple[datetime, UUID] | None, rows: int) -> list[RecipientEvent]:
        return await listing.list_recipient(
            app.conn, project_id, address.strip(), before=before or (None, None), limit=rows
        )

    return await read_page(read, limit, key=lambda one: (one.occurred_at, one.id))


@event.command(epilog=examples("mailqueue event show 01a1fa63-f231-72bd-9015-82ebfa2ea787 --json"))
@click.argument("event_id", type=click.UUID)
@json_option
def show(*, event_id: UUID) -> None:
    """Show one event with all its details: of an email, or the message of another service."""
    one = execute(lambda app: _found(app, event_id))
    if isinstance(one, list):
        print_deliveries(one)
        return

    def as_text() -> None:
        data = one.data if isinstance(one.data, dict) else {}
        names = ("id", "occurred_at", "type", "project", "email_id", "recipient_email", "sender")
        more = ("source", "code", "detail", "suppresses")
        facts([*((name, getattr(one, name)) for name in (*names, *more)), *sorted(data.items())])

    print_result(one, as_text)


async def _found(app: Opened, event_id: UUID) -> RecordedEvent | list[InboxEventDetail]:
    try:
        return await events.show(app.conn, None, event_id)
    except NotFound:
        return await listing.find_event(app.conn, event_id)


@event.command(
    epilog=examples("mailqueue event notices", "mailqueue event notices --seen --project shop")
)
@click.option("--project", help="Filter by project.")
@click.option("--all", "is_all", is_flag=True, help="Include acknowledged notices.")
@click.option("--seen", is_flag=True, help="Acknowledge the listed notices.")
@limit_option()
@json_option
def notices(*, project: str | None, is_all: bool, seen: bool, limit: int) -> None:
    """List complaints, and accounts with high bounce or complaint rates."""
    found = execute(lambda app: _noticed(app, project, is_all=is_all, seen=seen, limit=limit))
    print_rows(found, _NOTICES)


async def _noticed(
    app: Opened, project: str | None, *, is_all: bool, seen: bool, limit: int
) -> list[Notice]:
    if project is not None:
        await project_id_of(app.conn, project)
    found = await listing.list_notices(app.conn, project=project, is_all=is_all, limit=limit)
    if seen:
        await listing.see_notices(app.conn, project=project, by=operator())
    return found


event.add_command(received)
event.add_command(raw)
event.add_command(retry)
event.add_command(inbox)
event.add_command(deliver)
event.add_command(replay)
