"""Webhook requests of providers as received: list, print and process again."""

import sys
from uuid import UUID

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_message, print_rows
from mailqueue.cli.support.output import Column, examples
from mailqueue.cli.support.shared_options import limit_option
from mailqueue.contract.operations import RequestSummary, RetriedRequests
from mailqueue.core.providers import NAMES_WITH_EVENTS
from mailqueue.inbound import requests

_STATES = ("pending", "assigned", "processed", "unmatched", "failed")
_COLUMNS = (
    Column("received_at", "WHEN"),
    Column("provider", "PROVIDER"),
    Column("sender", "SENDER"),
    Column("status", "STATUS"),
    Column("bytes", "BYTES", numeric=True),
    Column("why", "WHY"),
    Column("id", "ID"),
)


@click.command(
    epilog=examples(
        "mailqueue event received --status failed",
        "mailqueue event received --provider ses --json",
    )
)
@click.option("--project", help="Filter by project.")
@click.option("--provider", type=click.Choice(NAMES_WITH_EVENTS), help="Filter by provider.")
@click.option("--status", type=click.Choice(_STATES), help="Filter by status.")
@click.option(
    "--before", type=click.UUID, help="Show requests received before the request with this id."
)
@limit_option()
@json_option
def received(
    *,
    project: str | None,
    provider: str | None,
    status: str | None,
    before: UUID | None,
    limit: int,
) -> None:
    """List webhook requests received from providers, newest first, with their outcome."""
    found = execute(
        lambda app: requests.list_page(
            app.conn,
            project=project,
            provider=provider,
            status=status,
            before=before,
            limit=limit,
        )
    )
    print_rows(found, _COLUMNS, document=found, row=_row)


def _row(one: RequestSummary) -> dict[str, object]:
    shown = {column.key: getattr(one, column.key, None) for column in _COLUMNS}
    return shown | {"why": _why(one)}


def _why(one: RequestSummary) -> str | None:
    """Return the error of a request, or the unknown event types it contains."""
    if one.last_error is not None or not one.outcome.get("unknown"):
        return one.last_error
    return f"unknown: {', '.join(one.outcome['unknown'])}"


@click.command(epilog=examples("mailqueue event raw 01a1fa63-f231-72bd-9015-82ebfa2ea787"))
@click.argument("request_id", type=click.UUID)
def raw(*, request_id: UUID) -> None:
    """Print the body of a provider's request, byte for byte."""
    sys.stdout.buffer.write(execute(lambda app: requests.body_of(app.conn, request_id)))


@click.command(epilog=examples("mailqueue event retry 01a1fa63-f231-72bd-9015-82ebfa2ea787"))
@click.argument("request_ids", type=click.UUID, nargs=-1, required=True)
@json_option
def retry(*, request_ids: tuple[UUID, ...]) -> None:
    """Process requests again that could not be read or matched no email."""
    count = execute(lambda app: requests.retry(app.conn, request_ids, by=operator()))
    print_message(RetriedRequests(count), f"{count} queued to be processed again")
