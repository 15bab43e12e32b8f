"""`mailqueue timed-event`: mail and webhook calls that are due at a time."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_facts, print_rows
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.confirmation import asks_first
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.instants import EXAMPLE, instant_of
from mailqueue.cli.support.output import Column, examples
from mailqueue.cli.support.shared_options import limit_option, project_option
from mailqueue.contract.automation.timed_events import PutTimedEvent, TimedEvent, TimedEventStatus
from mailqueue.contract.page import Page
from mailqueue.core.errors import InvalidField
from mailqueue.projects.ids import project_id_of
from mailqueue.timed_events import events
from mailqueue.timed_events.model import TimedEventFilter

_COLUMNS = (
    Column("at", "DUE"),
    Column("kind", "KIND"),
    Column("status", "STATUS"),
    Column("local_at", "LOCAL"),
    Column("time_zone", "ZONE"),
    Column("retry_count", "RETRIES", numeric=True),
    Column("failure_reason", "REASON"),
    Column("id", "ID"),
)
_id = click.argument("event_id", metavar="ID", type=click.UUID)
_at = click.option("--at", metavar="TIME", help=f"Instant at which it is due, such as {EXAMPLE}.")
_local_at = click.option(
    "--local-at",
    type=click.DateTime(["%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M"]),
    help="Wall clock at which it is due, such as 2027-05-31T09:00.",
)
_zone = click.option("--time-zone", metavar="ZONE", help="Time zone of the wall clock.")
_payload = click.option(
    "--payload", metavar="JSON", help='Variables, or what the webhook receives: {"plan": "Team"}.'
)


@click.group(
    cls=CommandGroup,
    epilog=examples(
        "mailqueue timed-event list --status PENDING",
        "mailqueue timed-event put renewal --local-at 2027-05-31T09:00 --time-zone Europe/Berlin"
        " --template renewal --recipient ann@example.com",
    ),
)
def timed_event() -> None:
    """Manage mail and webhook calls that are due at a time."""


@timed_event.command(
    "list",
    epilog=examples(
        "mailqueue timed-event list --kind birthday", "mailqueue timed-event list --json"
    ),
)
@click.option("--kind", help="Filter by kind.")
@click.option(
    "--status",
    type=click.Choice([one.value for one in TimedEventStatus]),
    help="Filter by status.",
)
@click.option("--contact", "contact_id", type=click.UUID, help="Filter by contact.")
@limit_option()
@project_option
@json_option
def list_(
    *, kind: str | None, status: str | None, contact_id: UUID | None, limit: int, project: str
) -> None:
    """List timed events, newest first."""
    word = None if status is None else TimedEventStatus(status)
    filters = TimedEventFilter(kind, word, contact_id)

    async def listed(app: Opened) -> Page[TimedEvent]:
        project_id = await project_id_of(app.conn, project)
        return await events.list_page(
            app.conn, project_id, filters=filters, before=None, limit=limit
        )

    found = execute(listed)
    print_rows(found.data, _COLUMNS, document=found)


@timed_event.command(
    "show", epilog=examples("mailqueue timed-event show 0197b8f0-0000-7000-8000-000000000081")
)
@_id
@json_option
def show_(*, event_id: UUID) -> None:
    """Show the event of an ID."""

    async def found(app: Opened) -> TimedEvent:
        return await events.show(app.conn, None, event_id)

    _print(execute(found))


@timed_event.command(
    epilog=examples(
        "mailqueue timed-event put renewal --at 2027-05-31T08:00:00+02:00 --template renewal"
        " --recipient ann@example.com"
    )
)
@click.argument("kind", metavar="KIND")
@_at
@_local_at
@_zone
@click.option("--contact", "contact_id", type=click.UUID, help="Contact that it is about.")
@click.option("--template", metavar="SLUG", help="Template of the email.")
@click.option("--recipient", metavar="ADDRESS", help="Recipient of the email.  [default: contact]")
@click.option("--webhook", "webhook_id", type=click.UUID, help="Webhook that is called instead.")
@_payload
@click.option("--key", metavar="KEY", help="Idempotency key.")
@project_option
@json_option
def put(
    *,
    kind: str,
    at: str | None,
    local_at: datetime | None,
    time_zone: str | None,
    contact_id: UUID | None,
    template: str | None,
    recipient: str | None,
    webhook_id: UUID | None,
    payload: str | None,
    key: str | None,
    project: str,
) -> None:
    """Add an event of KIND, or find the one with its idempotency key."""
    instant, values = _instant(at), _object(payload)

    async def added(app: Opened) -> PutTimedEvent:
        project_id = await project_id_of(app.conn, project)
        return await events.put(
            app.conn,
            project_id,
            kind=kind,
            at=instant,
            local_at=local_at,
            time_zone=time_zone,
            contact_id=contact_id,
            payload=values or {},
            template=template,
            recipient=recipient,
            webhook_id=webhook_id,
            idempotency_key=key,
            is_test=False,
            by=operator(),
        )

    found = execute(added)
    facts = [("is new", found.is_new), *_facts(found.event)]
    print_facts(found, facts)


@timed_event.command(
    epilog=examples(
        "mailqueue timed-event change 0197b8f0-0000-7000-8000-000000000081 --version 1"
        " --local-at 2027-06-01T09:00"
    )
)
@_id
@click.option("--version", type=click.IntRange(1), required=True, help="Version that was read.")
@_at
@_local_at
@_zone
@_payload
@project_option
@json_option
def change(
    *,
    event_id: UUID,
    version: int,
    at: str | None,
    local_at: datetime | None,
    time_zone: str | None,
    payload: str | None,
    project: str,
) -> None:
    """Change the time or the payload of a pending event."""
    instant = _instant(at)
    fields = {
        "at": None if instant is None else instant.isoformat(),
        "local_at": None if local_at is None else local_at.isoformat(),
        "time_zone": time_zone,
        "payload": _object(payload),
    }
    given = {name: value for name, value in fields.items() if value is not None}

    async def changed(app: Opened) -> TimedEvent:
        project_id = await project_id_of(app.conn, project)
        return await events.change(app.conn, project_id, event_id, version=version, given=given)

    _print(execute(changed))


@timed_event.command(
    epilog=examples("mailqueue timed-event cancel 0197b8f0-0000-7000-8000-000000000081 --yes")
)
@_id
@project_option
@asks_first("Cancel timed event {event_id} of project {project}?")
def cancel(*, event_id: UUID, project: str) -> None:
    """Cancel a pending event."""

    async def cancelled(app: Opened) -> TimedEvent:
        project_id = await project_id_of(app.conn, project)
        return await events.cancel(app.conn, project_id, event_id, version=None, by=operator())

    execute(cancelled)
    click.echo(f"timed event {event_id} is cancelled")


def _print(one: TimedEvent) -> None:
    print_facts(one, _facts(one))


def _facts(one: TimedEvent) -> list[tuple[str, object]]:
    return [(name.replace("_", " "), value) for name, value in asdict(one).items()]


def _instant(text: str | None) -> datetime | None:
    if text is None:
        return None
    found = instant_of(text)
    if found is None:
        raise InvalidField("at", f"must be a timestamp such as {EXAMPLE}, got {text!r}")
    return found


def _object(text: str | None) -> Mapping[str, Any] | None:
    if text is None:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise InvalidField("payload", f"not JSON: {exc}") from exc
    if not isinstance(found, dict):
        raise InvalidField("payload", "an object is needed")
    return found
