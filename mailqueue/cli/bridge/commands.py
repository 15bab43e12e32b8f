"""`mailqueue bridge`: queues of RabbitMQ, and messages that could not be handled."""

from dataclasses import asdict, replace
from datetime import datetime
from uuid import UUID

import click

from mailqueue.bridge import letters
from mailqueue.bridge.model import LetterFilter
from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_facts, print_rows
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.instants import PastInstant
from mailqueue.cli.support.output import Column, examples
from mailqueue.cli.support.shared_options import limit_option, project_option
from mailqueue.contract.automation.bridge import (
    BrokerQueues,
    BrokerQueueState,
    DeadLetter,
    DeadLetterDetail,
    LetterReplay,
    LetterStatus,
)
from mailqueue.contract.page import Page
from mailqueue.core.json.writing import write_json
from mailqueue.core.paging import key_of
from mailqueue.projects.ids import project_id_of

_QUEUES = (
    Column("name", "QUEUE"),
    Column("project", "PROJECT"),
    Column("state", "STATE"),
    Column("received_messages", "MESSAGES", numeric=True),
    Column("received_at", "LAST"),
    Column("seen_at", "SEEN"),
    Column("reason", "REASON"),
)
_LETTERS = (
    Column("created_at", "WHEN"),
    Column("queue", "QUEUE"),
    Column("type", "TYPE"),
    Column("status", "STATUS"),
    Column("reason", "REASON"),
    Column("id", "ID"),
)
_type = click.option("--type", "type_", metavar="TYPE", help="Filter by type.")
_since = click.option(
    "--since", type=PastInstant(), help="Filter by time: given up at or after this, such as 2d."
)
_until = click.option("--until", type=PastInstant(), help="Filter by time: given up before this.")


@click.group(
    cls=CommandGroup,
    epilog=examples("mailqueue bridge queues", "mailqueue bridge replay --since 2d --dry-run"),
)
def bridge() -> None:
    """Show queues of RabbitMQ, and replay messages that could not be handled."""


@bridge.command(epilog=examples("mailqueue bridge queues", "mailqueue bridge queues --json"))
@json_option
def queues() -> None:
    """List the queues whose messages are events, with their state."""

    async def listed(app: Opened) -> list[BrokerQueueState]:
        return await letters.queues(app.conn, None)

    found = execute(listed)
    print_rows(
        found,
        _QUEUES,
        document=BrokerQueues(found),
        nothing="no queue of RabbitMQ is consumed: start mailqueue worker rabbitmq",
    )


@bridge.command("dead-letters", epilog=examples("mailqueue bridge dead-letters --since 2d"))
@_type
@click.option(
    "--status",
    type=click.Choice([one.value for one in LetterStatus]),
    help="Filter by status.",
)
@_since
@_until
@limit_option()
@project_option
@json_option
def dead_letters(
    *,
    type_: str | None,
    status: str | None,
    since: datetime | None,
    until: datetime | None,
    limit: int,
    project: str,
) -> None:
    """List messages that could not be handled, newest first, with the reason."""

    async def listed(app: Opened) -> Page[DeadLetter]:
        return await letters.list_page(
            app.conn,
            await project_id_of(app.conn, project),
            filters=LetterFilter(type_, since, until),
            status=status,
            before=None,
            limit=limit,
        )

    found = execute(listed)
    print_rows(found.data, _LETTERS, document=found)


@bridge.command(epilog=examples("mailqueue bridge show 0197b8f0-0000-7000-8000-0000000000dd"))
@click.argument("letter", metavar="LETTER", type=click.UUID)
@project_option
@json_option
def show(*, letter: UUID, project: str) -> None:
    """Show LETTER, a message that could not be handled, with its content."""

    async def found(app: Opened) -> DeadLetterDetail:
        return await letters.show(app.conn, await project_id_of(app.conn, project), letter)

    one = execute(found)
    shown = asdict(one) | {"headers": write_json(one.headers).decode()}
    print_facts(one, [(key.replace("_", " "), value) for key, value in shown.items()])


@bridge.command(
    epilog=examples(
        "mailqueue bridge replay --since 2d --dry-run",
        "mailqueue bridge replay --id 0197b8f0-0000-7000-8000-0000000000dd",
    )
)
@click.option(
    "--id",
    "ids",
    type=click.UUID,
    multiple=True,
    help="Id of a dead letter or of its message; may be repeated.",
)
@_type
@_since
@_until
@click.option("--dry-run", is_flag=True, help="Only count what would be done.")
@project_option
@json_option
def replay(
    *,
    ids: tuple[UUID, ...],
    type_: str | None,
    since: datetime | None,
    until: datetime | None,
    dry_run: bool,
    project: str,
) -> None:
    """Read dead letters again by today's rules; what is an event already is not handled twice."""
    if not (ids or type_ or since or until):
        raise click.UsageError("give --id, --type, --since or --until")

    async def replayed(app: Opened) -> LetterReplay:
        project_id = await project_id_of(app.conn, project)
        total, cursor = LetterReplay(dry_run, 0, 0, 0, 0, 0, 0, None), None
        while True:
            (after,) = key_of(cursor, UUID)
            page = await letters.replay(
                app.conn,
                project_id,
                project,
                ids=ids or None,
                filters=LetterFilter(type_, since, until),
                after=after,
                is_dry=dry_run,
                by=operator(),
            )
            total = _sum(total, page)
            cursor = page.next_cursor
            if cursor is None:
                return total

    found = execute(replayed)
    facts = [(k.replace("_", " "), v) for k, v in asdict(found).items() if k != "next_cursor"]
    print_facts(found, facts)


def _sum(one: LetterReplay, other: LetterReplay) -> LetterReplay:
    return replace(
        one,
        letters=one.letters + other.letters,
        events=one.events + other.events,
        duplicates=one.duplicates + other.duplicates,
        emails=one.emails + other.emails,
        cancelled=one.cancelled + other.cancelled,
        failed=one.failed + other.failed,
    )
