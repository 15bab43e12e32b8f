"""`mailqueue event inbox`, `deliver` and `replay`: events of other services."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any, TextIO
from uuid import UUID

import click

from mailqueue.cli.inbox.options import (
    headers_option,
    pairs_of,
    payload_argument,
    payload_of,
)
from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import (
    execute,
    json_option,
    print_facts,
    print_result,
    print_rows,
)
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.instants import PastInstant
from mailqueue.cli.support.output import Column, examples, facts, table
from mailqueue.cli.support.shared_options import limit_option, project_option
from mailqueue.contract.automation.inbox import (
    EventAction,
    EventOutcome,
    EventReplay,
    EventStatus,
    InboxDeliveries,
    InboxEvent,
    InboxEventDetail,
)
from mailqueue.contract.page import Page
from mailqueue.core.json.writing import write_json
from mailqueue.core.paging import key_of
from mailqueue.inbox import events
from mailqueue.inbox.model import EventFilter
from mailqueue.projects.ids import project_id_of

_COLUMNS = (
    Column("received_at", "WHEN"),
    Column("type", "EVENT"),
    Column("status", "STATUS"),
    Column("receive_count", "DELIVERIES", numeric=True),
    Column("done", "DONE"),
    Column("message_id", "MESSAGE"),
)
_ACTIONS = (
    Column("rule", "RULE"),
    Column("rule_version", "VERSION", numeric=True),
    Column("result", "RESULT"),
    Column("email_id", "EMAIL"),
    Column("cancelled_ids", "CANCELLED"),
    Column("key", "KEY"),
    Column("reason", "REASON"),
)
_type = click.option("--type", "type_", metavar="TYPE", help="Filter by event type.")
_since = click.option(
    "--since", type=PastInstant(), help="Filter by arrival: at or after this, such as 2d."
)
_until = click.option("--until", type=PastInstant(), help="Filter by arrival: before this.")


@click.command(
    "inbox",
    epilog=examples(
        "mailqueue event inbox --status failed",
        "mailqueue event inbox --type PlaceOrderCommand --since 2d --json",
    ),
)
@_type
@click.option(
    "--status",
    type=click.Choice([one.value for one in EventStatus if one is not EventStatus.RECEIVED]),
    help="Filter by status.",
)
@_since
@_until
@limit_option()
@project_option
@json_option
def inbox(
    *,
    type_: str | None,
    status: str | None,
    since: datetime | None,
    until: datetime | None,
    limit: int,
    project: str,
) -> None:
    """List events that other services delivered, newest first."""
    filters = EventFilter(type_, status, since, until)

    async def listed(app: Opened) -> Page[InboxEvent]:
        project_id = await project_id_of(app.conn, project)
        return await events.list_page(
            app.conn, project_id, filters=filters, before=None, limit=limit
        )

    found = execute(listed)
    print_rows(found.data, _COLUMNS, document=found, row=_row)


def print_deliveries(found: Sequence[InboxEventDetail]) -> None:
    """Print the event of a message, once for each consumer."""

    def as_text() -> None:
        for one in found:
            _print_event(one)

    print_result(InboxDeliveries(found), as_text)


@click.command(
    epilog=examples(
        "mailqueue event deliver PlaceOrderCommand order.json"
        " --message 0197b8f0-0000-7000-8000-000000000081",
    )
)
@click.argument("type_", metavar="TYPE")
@payload_argument
@click.option("--message", "message_id", type=click.UUID, required=True, help="Id of the event.")
@click.option(
    "--consumer",
    "consumer_id",
    type=click.UUID,
    help="Consumer of the event, where several handle it apart.",
)
@headers_option
@project_option
@json_option
def deliver(
    *,
    type_: str,
    payload: TextIO,
    message_id: UUID,
    consumer_id: UUID | None,
    headers: tuple[str, ...],
    project: str,
) -> None:
    """Deliver an event of TYPE with the payload in FILE, and show what rules did with it."""
    sample, given = payload_of(payload), pairs_of("header", headers)

    async def delivered(app: Opened) -> EventOutcome:
        async with app.conn.transaction():
            return await events.deliver(
                app.conn,
                project,
                message_id=message_id,
                consumer_id=consumer_id,
                event_type=type_,
                payload=sample,
                headers=given,
                is_test=False,
            )

    found = execute(delivered)

    def as_text() -> None:
        facts([(key.replace("_", " "), value) for key, value in _facts(found)])
        _print_actions(found.actions)

    print_result(found, as_text)


@click.command(
    epilog=examples(
        "mailqueue event replay --status failed --since 2d --dry-run",
        "mailqueue event replay --message 0197b8f0-0000-7000-8000-000000000081",
    )
)
@click.option(
    "--message",
    "message_ids",
    type=click.UUID,
    multiple=True,
    help="Id of an event; may be repeated.",
)
@_type
@click.option(
    "--status",
    type=click.Choice(["handled", "ignored", "failed"]),
    help="Filter by status.",
)
@_since
@_until
@click.option("--dry-run", is_flag=True, help="Only count what would be done.")
@project_option
@json_option
def replay(
    *,
    message_ids: tuple[UUID, ...],
    type_: str | None,
    status: str | None,
    since: datetime | None,
    until: datetime | None,
    dry_run: bool,
    project: str,
) -> None:
    """Apply today's rules to events of the inbox; a rule never acts twice on an event."""
    if not (message_ids or type_ or status or since or until):
        raise click.UsageError("give --message, --type, --status, --since or --until")
    filters = EventFilter(type_, status, since, until)

    async def replayed(app: Opened) -> EventReplay:
        project_id = await project_id_of(app.conn, project)
        total, cursor = EventReplay(dry_run, 0, 0, 0, 0, 0, None), None
        while True:
            (after,) = key_of(cursor, int)
            page = await events.replay(
                app.conn,
                project_id,
                message_ids=message_ids or None,
                filters=filters,
                after=after,
                is_dry=dry_run,
                by=operator(),
            )
            total = _sum(total, page)
            cursor = page.next_cursor
            if cursor is None:
                return total

    found = execute(replayed)
    print_facts(
        found,
        [
            (key.replace("_", " "), value)
            for key, value in asdict(found).items()
            if key != "next_cursor"
        ],
    )


def _sum(one: EventReplay, other: EventReplay) -> EventReplay:
    return replace(
        one,
        events=one.events + other.events,
        emails=one.emails + other.emails,
        cancelled=one.cancelled + other.cancelled,
        failed=one.failed + other.failed,
        unchanged=one.unchanged + other.unchanged,
    )


def _row(one: InboxEvent) -> dict[str, object]:
    done = ", ".join(f"{action.rule}: {action.result}" for action in one.actions)
    return asdict(one) | {"done": done or one.reason}


def _facts(one: EventOutcome | InboxEventDetail) -> list[tuple[str, Any]]:
    left_out = ("actions", "payload", "headers")
    return [(key, value) for key, value in asdict(one).items() if key not in left_out]


def _print_event(one: InboxEventDetail) -> None:
    facts([(key.replace("_", " "), value) for key, value in _facts(one)])
    facts(
        [
            ("payload", write_json(one.payload).decode()),
            ("headers", write_json(one.headers).decode()),
        ]
    )
    _print_actions(one.actions)


def _print_actions(actions: Any) -> None:
    found: list[EventAction] = list(actions)
    if found:
        table(found, _ACTIONS)
