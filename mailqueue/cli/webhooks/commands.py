"""`mailqueue webhook`: endpoints that receive the events of a project's emails."""

from dataclasses import asdict
from datetime import timedelta
from uuid import UUID

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_facts, print_result, print_rows
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.confirmation import asks_first
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import Column, examples, facts, in_project
from mailqueue.cli.support.paging import read_page
from mailqueue.cli.webhooks.log import deliveries_, delivery, retry
from mailqueue.cli.webhooks.trial import test
from mailqueue.contract.page import Page
from mailqueue.core.errors import InvalidField
from mailqueue.core.units import parse_duration
from mailqueue.webhooks import endpoints
from mailqueue.webhooks.formats.model import FormatName
from mailqueue.webhooks.model import WebhookRow, WithSecret
from mailqueue.webhooks.values import EVENT_TYPES, created_webhook_of, webhook_of

_COLUMNS = (
    Column("id", "WEBHOOK"),
    Column("project", "PROJECT"),
    Column("url", "URL"),
    Column("format", "FORMAT"),
    Column("event_types", "EVENTS"),
    Column("circuit", "CIRCUIT"),
    Column("failing_since", "FAILING SINCE"),
)
_TYPES = (Column("type", "TYPE"), Column("description", "WHEN"))
_project = click.option(
    "--project", default="default", show_default=True, help="Project of the webhook."
)
_id = click.argument("webhook_id", metavar="ID", type=click.UUID)
_events = click.option(
    "--event",
    "events",
    multiple=True,
    metavar="TYPE",
    help="Event type to deliver; may be repeated.  [default: all]",
)


@click.group(
    cls=CommandGroup,
    epilog=examples(
        "mailqueue webhook add https://app.example.com/hooks/mail --event email.hard_bounce",
        "mailqueue webhook list",
        "mailqueue webhook types",
    ),
)
def webhook() -> None:
    """Manage webhooks, which send email events to applications by HTTP."""


webhook.add_command(deliveries_)
webhook.add_command(delivery)
webhook.add_command(retry)
webhook.add_command(test)


@webhook.command(
    epilog=examples(
        "mailqueue webhook add https://app.example.com/hooks/mail",
        "mailqueue webhook add https://app.example.com/b --event email.hard_bounce"
        " --event email.complaint --project shop",
        "mailqueue webhook add https://user:password@app.example.com/anymail/postmark/tracking/"
        " --format postmark",
    )
)
@click.argument("url")
@_events
@click.option("--description", help="Description.")
@click.option(
    "--format",
    "form",
    type=click.Choice([one.value for one in FormatName]),
    default=FormatName.MAILQUEUE.value,
    show_default=True,
    help="Format of the requests: ours, or that of a provider's webhooks.",
)
@_project
@json_option
def add(
    *, url: str, events: tuple[str, ...], description: str | None, form: str, project: str
) -> None:
    """Register an endpoint. Its signing secret is shown once."""

    async def added(app: Opened) -> WithSecret:
        return await endpoints.add(
            app.conn,
            await endpoints.project_named(app.conn, project),
            url=url,
            event_types=list(events),
            description=description,
            secret=None,
            allowed=app.settings.allowed_hosts,
            master=app.master_key(),
            by=operator(),
            form=form,
        )

    _print_made(execute(added))


@webhook.command(
    "list",
    epilog=examples("mailqueue webhook list", "mailqueue webhook list --project shop --json"),
)
@click.option("--project", help="Filter by project.  [default: all projects]")
@click.option(
    "--limit", type=int, default=100, show_default=True, help="Maximum number of rows, up to 1000."
)
@json_option
def list_(*, project: str | None, limit: int) -> None:
    """List endpoints and their status."""

    async def listed(app: Opened) -> Page[WebhookRow]:
        project_id = None
        if project is not None:
            project_id = await endpoints.project_named(app.conn, project)

        async def read(after: UUID | None, rows: int) -> list[WebhookRow]:
            return await endpoints.list_page(app.conn, project_id, after=after, limit=rows)

        return await read_page(read, limit, key=lambda row: row.id)

    found = execute(listed)
    document = found.map(lambda row: in_project(webhook_of(row), None if project else row.project))
    print_rows(found.data, _COLUMNS, document=document, row=_row)


@webhook.command(epilog=examples("mailqueue webhook types", "mailqueue webhook types --json"))
@json_option
def types() -> None:
    """List event types that can be delivered."""
    print_rows(EVENT_TYPES.data, _TYPES, document=EVENT_TYPES)


@webhook.command(
    "show", epilog=examples("mailqueue webhook show 0197b8f0-0000-7000-8000-000000000001")
)
@_id
@json_option
def show_(*, webhook_id: UUID) -> None:
    """Show one endpoint."""
    _print(execute(lambda app: endpoints.find(app.conn, None, webhook_id)))


@webhook.command(
    epilog=examples(
        "mailqueue webhook change 0197b8f0-0000-7000-8000-000000000001 --url https://b.example.com/",
        "mailqueue webhook change 0197b8f0-0000-7000-8000-000000000001 --all-events",
        "mailqueue webhook change 0197b8f0-0000-7000-8000-000000000001 --enable",
    )
)
@_id
@click.option("--url", help="New URL, also for waiting deliveries.")
@_events
@click.option("--all-events", is_flag=True, help="Deliver all event types.")
@click.option("--description", help='Description; "" removes it.')
@click.option("--enable/--disable", "is_enabled", default=None, help="Resume or stop deliveries.")
@json_option
def change(
    *,
    webhook_id: UUID,
    url: str | None,
    events: tuple[str, ...],
    all_events: bool,
    description: str | None,
    is_enabled: bool | None,
) -> None:
    """Change the URL or event types of an endpoint, or enable or disable it."""
    if events and all_events:
        raise InvalidField("event", "give --event or --all-events, not both")

    async def changed(app: Opened) -> WebhookRow:
        async with app.conn.transaction():
            now = await endpoints.find(app.conn, None, webhook_id)
            if url is not None or events or all_events or description is not None:
                now = await endpoints.change(
                    app.conn,
                    now.project_id,
                    webhook_id,
                    url=url or None,
                    event_types=list(events) if events or all_events else None,
                    description=description,
                    allowed=app.settings.allowed_hosts,
                    by=operator(),
                )
            if is_enabled is not None:
                now = await endpoints.switch(
                    app.conn, now.project_id, webhook_id, is_enabled=is_enabled, by=operator()
                )
            return now

    _print(execute(changed))


@webhook.command(
    epilog=examples("mailqueue webhook remove 0197b8f0-0000-7000-8000-000000000001 --yes")
)
@_id
@asks_first("Remove webhook {webhook_id} and its delivery log?")
def remove(*, webhook_id: UUID) -> None:
    """Remove an endpoint and its delivery log."""

    async def removed(app: Opened) -> None:
        found = await endpoints.find(app.conn, None, webhook_id)
        await endpoints.remove(app.conn, found.project_id, webhook_id, by=operator())

    execute(removed)
    click.echo(f"webhook {webhook_id} is removed")


@webhook.command(
    epilog=examples(
        "mailqueue webhook rotate 0197b8f0-0000-7000-8000-000000000001",
        "mailqueue webhook rotate 0197b8f0-0000-7000-8000-000000000001 --overlap 7d",
    )
)
@_id
@click.option(
    "--overlap",
    metavar="DURATION",
    default="24h",
    show_default=True,
    help="Time for which the old secret signs too; 0s: stops at once.",
)
@json_option
def rotate(*, webhook_id: UUID, overlap: str) -> None:
    """Replace the signing secret. The new secret is shown once."""

    async def rotated(app: Opened) -> WithSecret:
        found = await endpoints.find(app.conn, None, webhook_id)
        return await endpoints.rotate(
            app.conn,
            found.project_id,
            webhook_id,
            secret=None,
            overlap=_span(overlap),
            master=app.master_key(),
            by=operator(),
        )

    _print_made(execute(rotated))


def _span(text: str) -> timedelta:
    try:
        return parse_duration(text)
    except ValueError as exc:
        raise InvalidField("overlap", str(exc)) from None


def _print_made(webhook: WithSecret) -> None:

    made = created_webhook_of(webhook)

    def as_text() -> None:
        key = made.webhook.public_key
        shown = ("secret", made.secret) if key is None else ("public key", key)
        facts([("webhook", made.webhook.id), ("url", made.webhook.url), shown])
        click.echo(made.warning, err=True)

    print_result(made, as_text)


def _print(one: WebhookRow) -> None:
    pairs = ((name.replace("_", " "), value) for name, value in asdict(one).items())
    print_facts(webhook_of(one), [pair for pair in pairs if pair[0] != "project id"])


def _row(one: WebhookRow) -> dict[str, object]:
    return asdict(one) | {"event_types": one.event_types or "all"}
