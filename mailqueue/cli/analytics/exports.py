"""`mailqueue export`: exports of a project's data to files, which workers write."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, BinaryIO
from uuid import UUID

import click

from mailqueue.analytics.exports import fetching, requests
from mailqueue.analytics.exports.model import CHOICES, WantedExport
from mailqueue.cli.support import polling
from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import (
    execute,
    json_option,
    print_facts,
    print_message,
    print_rows,
)
from mailqueue.cli.support.app import Opened, opened, run
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.instants import PastInstant
from mailqueue.cli.support.output import Column, examples
from mailqueue.cli.support.progress import progress
from mailqueue.cli.support.shared_options import limit_option, project_option
from mailqueue.contract.exports import DataExport, ExportFormat, ExportKind
from mailqueue.db.fetch import Conn
from mailqueue.projects import manage

EXIT_FAILED = 1
MAX_ROWS = 1000
"""Exports that one command lists."""
_ID = "019a9c2e-7d1c-7f6e-9d53-2f4f2f9c8a11"
_UNFINISHED = ("waiting", "running")
_EXPORTS = (
    Column("id", "ID"),
    Column("project", "PROJECT"),
    Column("kind", "KIND"),
    Column("format", "FORMAT"),
    Column("state", "STATE"),
    Column("rows", "ROWS", numeric=True),
    Column("requested_by", "BY"),
    Column("created_at", "BEGUN"),
)


@click.group(
    cls=CommandGroup,
    epilog=examples(
        "mailqueue export create emails --project shop --from 30d --wait",
        f"mailqueue export show {_ID}",
        f"mailqueue export fetch {_ID} --output emails.csv",
    ),
)
def export() -> None:
    """Export emails, events, recipients, counts or suppressions of a project to a file.

    A worker of the queue `exports` writes the file; it is deleted after seven days.
    """


def _conditions(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add an option for each condition."""
    for option in (
        click.option("--reason", type=click.Choice(CHOICES["reason"]), help="Of suppressions."),
        click.option("--dimension", type=click.Choice(CHOICES["dimension"]), help="Of stats."),
        click.option("--type", type=click.Choice(CHOICES["type"]), help="Type of events."),
        click.option("--category", help="Category; of emails, recipients and suppressions."),
        click.option("--tag", help="Tag; of emails and recipients."),
        click.option("--campaign", help="Campaign; of emails and recipients."),
        click.option(
            "--status", type=click.Choice(CHOICES["status"]), help="Of emails and recipients."
        ),
    ):
        command = option(command)
    return command


@export.command(
    epilog=examples(
        "mailqueue export create emails --project shop --status sent --from 30d",
        "mailqueue export create events --type hard_bounce --format ndjson --wait",
    )
)
@click.argument(
    "kind", type=click.Choice([one.value for one in ExportKind if one is not ExportKind.PERSON])
)
@project_option
@click.option(
    "--format",
    "form",
    type=click.Choice([one.value for one in ExportFormat]),
    default=ExportFormat.CSV.value,
    show_default=True,
    help="Format of the file.",
)
@click.option("--from", "since", type=PastInstant(), help="Start of the time, or age such as 7d.")
@click.option("--to", "until", type=PastInstant(), help="End of the time; now by default.")
@click.option("--test", "is_test", is_flag=True, help="Export test mail in place of live mail.")
@_conditions
@click.option("--wait", is_flag=True, help="Wait for its end, and show the progress.")
@json_option
@click.pass_context
def create(
    ctx: click.Context,
    /,
    *,
    kind: str,
    project: str,
    form: str,
    since: datetime | None,
    until: datetime | None,
    is_test: bool,
    wait: bool,
    **conditions: str | None,
) -> None:
    """Begin an export."""
    wanted = WantedExport(
        ExportKind(kind),
        ExportFormat(form),
        {name: value for name, value in conditions.items() if value is not None},
        since,
        until,
        is_test=is_test,
    )

    async def begun(app: Opened) -> DataExport:
        project_id = (await manage.find(app.conn, project)).id
        async with app.conn.transaction():
            made = await requests.begin(app.conn, project_id, wanted, by=operator())
        return await _ended(app.conn, made) if wait else made

    found = execute(begun)
    print_message(found, _sentence(found))
    if found.state == "failed":
        ctx.exit(EXIT_FAILED)


@export.command("list", epilog=examples("mailqueue export list --project shop --json"))
@click.option("--project", help="Only exports of this project.")
@limit_option(MAX_ROWS, of="exports")
@json_option
def list_(*, project: str | None, limit: int) -> None:
    """List exports, newest first."""

    async def listed(app: Opened) -> list[DataExport]:
        project_id = None if project is None else (await manage.find(app.conn, project)).id
        return await requests.page(app.conn, project_id, limit=limit)

    print_rows(execute(listed), _EXPORTS, nothing="no exports")


@export.command(epilog=examples(f"mailqueue export show {_ID} --json"))
@click.argument("export_id", metavar="ID", type=click.UUID)
@json_option
def show(*, export_id: UUID) -> None:
    """Show an export and its progress."""
    found = execute(lambda app: requests.find(app.conn, None, export_id))
    pairs = (
        ("id", found.id),
        ("project", found.project),
        ("kind", found.kind),
        ("format", found.format),
        ("filter", " ".join(f"{name}={value}" for name, value in found.filter.items()) or None),
        ("from", found.since),
        ("to", found.until),
        ("state", found.state),
        ("rows", found.rows),
        ("rows estimated", found.rows_estimated),
        ("bytes", found.bytes),
        ("begun", found.created_at),
        ("by", found.requested_by),
        ("finished", found.finished_at),
        ("deleted after", found.expires_at),
        ("last error", found.error),
    )
    print_facts(found, [(name, value) for name, value in pairs if value is not None])


@export.command(
    epilog=examples(
        f"mailqueue export fetch {_ID} > emails.csv",
        f"mailqueue export fetch {_ID} --output emails.csv",
    )
)
@click.argument("export_id", metavar="ID", type=click.UUID)
@click.option(
    "--output", type=click.File("wb"), default="-", help="File to write; standard output if absent."
)
def fetch(*, export_id: UUID, output: BinaryIO) -> None:
    """Write the file of an export that is done.

    Cells of CSV that a spreadsheet would read as a formula are prefixed with a quote.
    """

    async def fetched() -> None:
        async with opened() as app:

            @asynccontextmanager
            async def lend() -> AsyncIterator[Conn]:
                yield app.conn

            found = await requests.find(app.conn, None, export_id)
            project_id = (await manage.find(app.conn, found.project)).id
            pieces = await fetching.begin_file(lend, project_id, found, by=operator())
            async for piece in pieces:
                output.write(piece)
        output.flush()

    run(fetched())


@export.command(epilog=examples(f"mailqueue export delete {_ID}"))
@click.argument("export_id", metavar="ID", type=click.UUID)
@json_option
def delete(*, export_id: UUID) -> None:
    """Delete the file of an export; an unfinished one ends after its current part."""

    async def deleted(app: Opened) -> DataExport:
        found = await requests.find(app.conn, None, export_id)
        project_id = (await manage.find(app.conn, found.project)).id
        async with app.conn.transaction():
            return await requests.delete(app.conn, project_id, export_id, by=operator())

    found = execute(deleted)
    print_message(found, f"export {found.id} is deleted")


async def _ended(conn: Conn, export: DataExport) -> DataExport:
    """Return an export once it has ended; show its progress until then."""
    with progress("exporting", export.rows_estimated or None) as advance:
        while export.state in _UNFINISHED:
            await polling.until_next_look()
            before, export = export.rows, await requests.find(conn, None, export.id)
            advance(export.rows - before)
    return export


def _sentence(found: DataExport) -> str:
    match found.state:
        case "done":
            return (
                f"{found.rows} rows; mailqueue export fetch {found.id} writes the file, until "
                f"{found.expires_at}"
            )
        case state if state in _UNFINISHED:
            return f"export {found.id} of about {found.rows_estimated} rows has begun"
        case _:
            return f"export {found.id}: {found.state}" + (f": {found.error}" if found.error else "")
