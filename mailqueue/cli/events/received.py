"""What providers told as it came: listed, printed, and read once more."""

import sys
from uuid import UUID

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.app import opened, run
from mailqueue.cli.support.output import Column, emit, examples, json_option, table
from mailqueue.core.providers import NAMES_WITH_EVENTS
from mailqueue.inbound import requests
from mailqueue.inbound.model import RequestSummary

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
@click.option("--project", help="Only this project's.")
@click.option("--provider", type=click.Choice(NAMES_WITH_EVENTS), help="Only of this provider.")
@click.option("--status", type=click.Choice(_STATES), help="Only those in this state.")
@click.option("--before", type=click.UUID, help="Only those received before this one.")
@click.option(
    "--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="How many."
)
@json_option
def received(
    *,
    project: str | None,
    provider: str | None,
    status: str | None,
    before: UUID | None,
    limit: int,
    as_json: bool,
) -> None:
    """List what providers told by webhook, the latest first, and what became of it."""

    async def listed() -> list[RequestSummary]:
        async with opened() as app:
            return await requests.list_page(
                app.conn,
                project=project,
                provider=provider,
                status=status,
                before=before,
                limit=limit,
            )

    found = run(listed())
    if as_json:
        emit([one._asdict() for one in found])
    else:
        table([one._asdict() | {"why": _why(one)} for one in found], _COLUMNS)


def _why(one: RequestSummary) -> str | None:
    """Return what is wrong with a request, or which kinds of events it has that are not known."""
    if one.last_error is not None or not one.outcome.get("unknown"):
        return one.last_error
    return f"unknown: {', '.join(one.outcome['unknown'])}"


@click.command(epilog=examples("mailqueue event raw 01a1fa63-f231-72bd-9015-82ebfa2ea787"))
@click.argument("request_id", type=click.UUID)
def raw(*, request_id: UUID) -> None:
    """Print what a provider told, octet for octet as it came."""

    async def read() -> bytes:
        async with opened() as app:
            return await requests.body_of(app.conn, request_id)

    sys.stdout.buffer.write(run(read()))


@click.command(epilog=examples("mailqueue event retry 01a1fa63-f231-72bd-9015-82ebfa2ea787"))
@click.argument("request_ids", type=click.UUID, nargs=-1, required=True)
@json_option
def retry(*, request_ids: tuple[UUID, ...], as_json: bool) -> None:
    """Read once more what could not be read, or was of no email we knew."""

    async def again() -> int:
        async with opened() as app:
            return await requests.retry(app.conn, request_ids, by=operator())

    count = run(again())
    if as_json:
        emit({"retried": count})
    else:
        click.echo(f"{count} to be read once more")
