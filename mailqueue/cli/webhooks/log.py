"""`mailqueue webhook deliveries`, `delivery` and `retry`: the delivery log."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import (
    execute,
    json_option,
    print_message,
    print_result,
    print_rows,
)
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.output import Column, examples, facts, table
from mailqueue.cli.support.paging import read_page
from mailqueue.contract.page import Page
from mailqueue.contract.webhooks import DeliveryDetail, RetriedDeliveries
from mailqueue.core.errors import InvalidField
from mailqueue.core.json.writing import write_json
from mailqueue.core.units import parse_duration
from mailqueue.webhooks import deliveries, endpoints
from mailqueue.webhooks.model import ENDED, DeliveryFilter, DeliveryRow, DeliveryStatus
from mailqueue.webhooks.values import delivery_detail_of, delivery_of

_COLUMNS = (
    Column("id", "DELIVERY"),
    Column("type", "EVENT"),
    Column("status", "STATUS"),
    Column("attempts", "ATTEMPTS", numeric=True),
    Column("response_status", "CODE", numeric=True),
    Column("error", "ERROR"),
    Column("created_at", "AT"),
)
_CALLS = (
    Column("attempt", "ATTEMPT", numeric=True),
    Column("tried_at", "AT"),
    Column("response_status", "CODE", numeric=True),
    Column("latency_ms", "MS", numeric=True),
    Column("error", "ERROR"),
    Column("response_body", "ANSWER"),
)
_id = click.argument("webhook_id", metavar="ID", type=click.UUID)
_since = click.option("--since", metavar="AGO", help="Filter by age: at most this old, such as 2h.")


@click.command(
    "deliveries",
    epilog=examples(
        "mailqueue webhook deliveries 0197b8f0-0000-7000-8000-000000000001",
        "mailqueue webhook deliveries 0197b8f0-0000-7000-8000-000000000001 --status failed"
        " --since 2h --json",
    ),
)
@_id
@click.option(
    "--status",
    type=click.Choice([status.value for status in DeliveryStatus]),
    help="Filter by status.",
)
@click.option("--type", "kind", metavar="TYPE", help="Filter by event type.")
@_since
@click.option(
    "--limit", type=int, default=100, show_default=True, help="Maximum number of rows, up to 1000."
)
@json_option
def deliveries_(
    *,
    webhook_id: UUID,
    status: str | None,
    kind: str | None,
    since: str | None,
    limit: int,
) -> None:
    """List the deliveries to an endpoint, newest first."""
    wanted = DeliveryFilter(status=status, type=kind, since=_ago(since))

    async def listed(app: Opened) -> Page[DeliveryRow]:
        found = await endpoints.find(app.conn, None, webhook_id)

        async def read(before: UUID | None, rows: int) -> list[DeliveryRow]:
            return await deliveries.list_page(
                app.conn, found.project_id, webhook_id, filters=wanted, before=before, limit=rows
            )

        return await read_page(read, limit, key=lambda row: row.id)

    found = execute(listed).map(delivery_of)
    print_rows(found.data, _COLUMNS, document=found)


@click.command(
    epilog=examples(
        "mailqueue webhook delivery 0197b8f0-0000-7000-8000-000000000001"
        " 0197b8f0-0000-7000-8000-000000000002"
    )
)
@_id
@click.argument("delivery_id", metavar="DELIVERY", type=click.UUID)
@json_option
def delivery(*, webhook_id: UUID, delivery_id: UUID) -> None:
    """Show one delivery: its payload, and the response to each attempt."""

    async def found(app: Opened) -> DeliveryDetail:
        webhook = await endpoints.find(app.conn, None, webhook_id)
        log = await deliveries.show(app.conn, webhook.project_id, webhook_id, delivery_id)
        return delivery_detail_of(log)

    log = execute(found)

    def as_text() -> None:
        one = log.delivery
        facts(
            [
                ("event", f"{one.type} {one.event_id}"),
                ("status", one.status),
                ("email", one.email_id),
                ("next attempt", one.next_attempt_at),
                ("told", None if log.payload is None else write_json(log.payload).decode()),
            ]
        )
        click.echo()
        table(log.attempts, _CALLS)

    print_result(log, as_text)


@click.command(
    epilog=examples(
        "mailqueue webhook retry 0197b8f0-0000-7000-8000-000000000001 --since 6h",
        "mailqueue webhook retry 0197b8f0-0000-7000-8000-000000000001 --status delivered"
        " --since 1h --until 30min",
        "mailqueue webhook retry 0197b8f0-0000-7000-8000-000000000001"
        " --delivery 0197b8f0-0000-7000-8000-000000000002",
    )
)
@_id
@click.option(
    "--delivery",
    "delivery_id",
    type=click.UUID,
    metavar="DELIVERY",
    help="Retry only this delivery.",
)
@click.option(
    "--status",
    "statuses",
    multiple=True,
    type=click.Choice([status.value for status in ENDED]),
    help="Filter by status; may be repeated.  [default: failed, cancelled]",
)
@click.option("--type", "kinds", multiple=True, metavar="TYPE", help="Filter by event type.")
@_since
@click.option("--until", metavar="AGO", help="Filter by age: at least this old, such as 30min.")
@click.option("--dry-run", is_flag=True, help="Count the deliveries only; change nothing.")
@json_option
def retry(
    *,
    webhook_id: UUID,
    delivery_id: UUID | None,
    statuses: tuple[str, ...],
    kinds: tuple[str, ...],
    since: str | None,
    until: str | None,
    dry_run: bool,
) -> None:
    """Retry deliveries from the first attempt, up to 10,000 per run."""
    begin, end = _ago(since), _ago(until)

    async def retried(app: Opened) -> int:
        project_id = (await endpoints.find(app.conn, None, webhook_id)).project_id
        if delivery_id is not None:
            await deliveries.retry(app.conn, project_id, webhook_id, delivery_id, by=operator())
            return 1
        return await deliveries.retry_many(
            app.conn,
            project_id,
            webhook_id,
            since=begin,
            until=end,
            statuses=statuses or deliveries.NOT_DELIVERED,
            types=kinds,
            is_dry=dry_run,
            by=operator(),
        )

    if delivery_id is not None and dry_run:
        raise click.UsageError("--dry-run counts many deliveries; --delivery names one")
    count = execute(retried)
    more = "; run it again for more" if count == deliveries.MAX_RETRIED else ""
    said = "deliveries would be retried" if dry_run else "deliveries will be retried"
    print_message(RetriedDeliveries(count), f"{count} {said}{more}")


def _ago(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        span: timedelta = parse_duration(text)
    except ValueError as exc:
        raise InvalidField("since", str(exc)) from None
    return datetime.now(UTC) - span
