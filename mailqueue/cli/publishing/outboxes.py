"""`mailqueue outbox`: where messages that services write are published."""

from collections.abc import Sequence
from dataclasses import asdict
from uuid import UUID

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_facts, print_rows
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.confirmation import asks_first
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import Column, Command, examples, show
from mailqueue.cli.support.shared_options import project_option
from mailqueue.contract.automation.publishing import Outbox, Outboxes, OutboxTransport
from mailqueue.projects.ids import project_id_of
from mailqueue.publishing import outboxes

_COLUMNS = (
    Column("name", "OUTBOX"),
    Column("transport", "BY"),
    Column("target", "TARGET"),
    Column("waiting", "WAITING", numeric=True),
    Column("oldest_waiting_at", "SINCE"),
    Column("last_published_at", "PUBLISHED"),
    Column("last_error", "ERROR"),
)
_name = click.argument("name", metavar="OUTBOX")


def _target(command: Command) -> Command:
    webhook = click.option(
        "--webhook",
        type=click.UUID,
        metavar="ID",
        help="Webhook of the project that receives the messages.",
    )
    rabbitmq = click.option(
        "--rabbitmq",
        metavar="FORMAT[:EXCHANGE]",
        help="Publish to RabbitMQ: masstransit, masstransit:EXCHANGE, cloudevents:EXCHANGE or "
        "cloudevents-binary:EXCHANGE.",
    )
    return webhook(rabbitmq(command))


def _events(command: Command) -> Command:
    some = click.option(
        "--event",
        "events",
        multiple=True,
        metavar="TYPE",
        help="Type of events of emails to publish as messages, as mailqueue webhook types lists "
        "them; may be repeated.",
    )
    every = click.option("--all-events", is_flag=True, help="Publish events of all types.")
    return some(every(command))


@click.group(
    cls=CommandGroup,
    epilog=examples(
        "mailqueue outbox add orders --webhook 0197b8f0-0000-7000-8000-0000000000aa",
        "mailqueue outbox list",
    ),
)
def outbox() -> None:
    """Manage outboxes: messages that services write with mailqueue.publish(), sent in order."""


@outbox.command(
    epilog=examples(
        "mailqueue outbox add orders --webhook 0197b8f0-0000-7000-8000-0000000000aa",
        "mailqueue outbox add orders --rabbitmq cloudevents:shop.events",
        "mailqueue outbox add mail --rabbitmq masstransit --event email.delivered",
    )
)
@_name
@_target
@_events
@project_option
@json_option
def add(
    *,
    name: str,
    webhook: UUID | None,
    rabbitmq: str | None,
    events: tuple[str, ...],
    all_events: bool,
    project: str,
) -> None:
    """Add OUTBOX, whose messages are published to a webhook or to RabbitMQ."""
    transport, target = _target_of(webhook, rabbitmq)
    types = _types_of(events, all_events=all_events)

    async def added(app: Opened) -> Outbox:
        project_id = await project_id_of(app.conn, project)
        return await outboxes.add(
            app.conn,
            project_id,
            name,
            transport=transport,
            target=target,
            by=operator(),
            events=types,
        )

    _print(execute(added))


@outbox.command(
    epilog=examples(
        "mailqueue outbox change orders --webhook 0197b8f0-0000-7000-8000-0000000000bb",
        "mailqueue outbox change orders --event email.delivered --event email.hard_bounce",
        "mailqueue outbox change orders --no-events",
    )
)
@_name
@_target
@_events
@click.option("--no-events", is_flag=True, help="Publish no events of emails.")
@project_option
@json_option
def change(
    *,
    name: str,
    webhook: UUID | None,
    rabbitmq: str | None,
    events: tuple[str, ...],
    all_events: bool,
    no_events: bool,
    project: str,
) -> None:
    """Publish the messages of OUTBOX elsewhere, or other events, from now on."""
    types = _types_of(events, all_events=all_events, no_events=no_events)
    has_events = types is not None or no_events
    is_moved = webhook is not None or rabbitmq is not None
    place = _target_of(webhook, rabbitmq) if is_moved or not has_events else None

    async def changed(app: Opened) -> Outbox:
        conn, by = app.conn, operator()
        project_id = await project_id_of(conn, project)
        async with conn.transaction():
            if place is not None:
                transport, target = place
                await outboxes.change(
                    conn, project_id, name, transport=transport, target=target, by=by
                )
            if has_events:
                await outboxes.change_events(conn, project_id, name, events=types, by=by)
            return await outboxes.get(conn, project_id, name)

    _print(execute(changed))


@outbox.command("list", epilog=examples("mailqueue outbox list --project shop --json"))
@project_option
@json_option
def list_(*, project: str) -> None:
    """List outboxes by name, with the messages that wait."""

    async def listed(app: Opened) -> list[Outbox]:
        return await outboxes.list_(app.conn, await project_id_of(app.conn, project))

    found = execute(listed)
    print_rows(found, _COLUMNS, document=Outboxes(found))


@outbox.command("show", epilog=examples("mailqueue outbox show orders"))
@_name
@project_option
@json_option
def show_(*, name: str, project: str) -> None:
    """Show OUTBOX, with the messages that wait and the last error."""

    async def found(app: Opened) -> Outbox:
        return await outboxes.get(app.conn, await project_id_of(app.conn, project), name)

    _print(execute(found))


@outbox.command(epilog=examples("mailqueue outbox remove orders --yes"))
@_name
@project_option
@asks_first("Remove outbox {name} of project {project} with its messages, published or not?")
def remove(*, name: str, project: str) -> None:
    """Remove OUTBOX with its messages, published or not."""

    async def removed(app: Opened) -> None:
        project_id = await project_id_of(app.conn, project)
        await outboxes.remove(app.conn, project_id, name, by=operator())

    execute(removed)
    click.echo(f"outbox {show(name)} is removed")


@outbox.command(
    epilog=examples("mailqueue outbox skip orders 0197b8f0-0000-7000-8000-000000000082")
)
@_name
@click.argument("message", metavar="MESSAGE", type=click.UUID)
@project_option
@asks_first("Leave message {message} out of what outbox {name} of project {project} publishes?")
def skip(*, name: str, message: UUID, project: str) -> None:
    """Leave MESSAGE out of what OUTBOX publishes, so that those behind it are published."""

    async def skipped(app: Opened) -> None:
        project_id = await project_id_of(app.conn, project)
        await outboxes.skip(app.conn, project_id, name, message, by=operator())

    execute(skipped)
    click.echo(f"message {message} is left out")


def _target_of(webhook: UUID | None, rabbitmq: str | None) -> tuple[OutboxTransport, str]:
    if webhook is not None and rabbitmq is None:
        return OutboxTransport.WEBHOOK, str(webhook)
    if rabbitmq is not None and webhook is None:
        return OutboxTransport.RABBITMQ, rabbitmq
    raise click.UsageError("give --webhook or --rabbitmq")


def _types_of(
    events: Sequence[str], *, all_events: bool, no_events: bool = False
) -> list[str] | None:
    """Return the types of events to publish: empty: all, None: none."""
    if bool(events) + all_events + no_events > 1:
        raise click.UsageError("give --event, --all-events or --no-events, not several")
    return list(events) if events or all_events else None


def _print(one: Outbox) -> None:
    events = "none" if one.events is None else one.events or "all"
    facts = asdict(one) | {"events": events}
    print_facts(one, [(key.replace("_", " "), value) for key, value in facts.items()])
