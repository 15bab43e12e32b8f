"""`mailqueue archive`: archive files: list, verify, read and restore them; retention rules."""

from datetime import date, datetime, timedelta

import click

from mailqueue.cli.maintenance.context import maintenance_context
from mailqueue.cli.maintenance.days import days, keep
from mailqueue.cli.support.answer import (
    execute,
    json_option,
    print_message,
    print_result,
    print_rows,
)
from mailqueue.cli.support.app import Opened, run
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import Column, Command, examples
from mailqueue.cli.support.progress import progress
from mailqueue.contract.maintenance import (
    ArchiveFile,
    ArchiveFiles,
    Restored,
    RestoredFiles,
    VerifiedFile,
    VerifiedFiles,
)
from mailqueue.core.units import parse_duration
from mailqueue.maintenance import tasks
from mailqueue.maintenance.archive import manifest
from mailqueue.maintenance.archive.manifest import FileFilter
from mailqueue.maintenance.model import RecordKind, Task

EXIT_BROKEN = 1
_COLUMNS = (
    Column("id", "ID", numeric=True),
    Column("project", "PROJECT"),
    Column("kind", "KIND"),
    Column("month", "MONTH"),
    Column("state", "STATE"),
    Column("tier", "TIER"),
    Column("records", "RECORDS", numeric=True),
    Column("bytes", "BYTES", numeric=True),
    Column("path", "PATH"),
)


def _choice(command: Command) -> Command:
    """Add options that select archive files."""
    for add in (
        click.option(
            "--kind",
            type=click.Choice([each.value for each in RecordKind]),
            help="Filter by kind of record.",
        ),
        click.option("--month", metavar="YYYY-MM", callback=_month, help="Filter by month."),
        click.option("--project", help="Filter by project."),
        click.argument("ids", metavar="[ID]...", nargs=-1, type=int),
    ):
        command = add(command)
    return command


def _month(_: click.Context, __: click.Parameter, value: str | None) -> date | None:
    if value is None:
        return None
    try:
        return datetime.strptime(value, "%Y-%m").date()  # noqa: DTZ007
    except ValueError:
        raise click.BadParameter(f"must be a month such as 2026-05, got {value!r}") from None


@click.group(
    cls=CommandGroup, epilog=examples("mailqueue archive list", "mailqueue archive verify")
)
def archive() -> None:
    """List, verify, read and restore the files of archived records.

    `mailqueue maintain archive` writes the files.
    """


archive.add_command(days)
archive.add_command(keep)


@archive.command(
    "list",
    epilog=examples(
        "mailqueue archive list", "mailqueue archive list --project shop --month 2026-05 --json"
    ),
)
@_choice
@click.option("--purged", is_flag=True, help="Include entries whose files were deleted.")
@json_option
def list_(
    *,
    ids: tuple[int, ...],
    project: str | None,
    month: date | None,
    kind: str | None,
    purged: bool,
) -> None:
    """List archive files, oldest month first."""
    found = execute(
        lambda app: _listed(app, FileFilter(ids, project, month, kind), with_purged=purged)
    )
    print_rows(found, _COLUMNS, document=ArchiveFiles(found), row=_row, nothing="no archives")


@archive.command(epilog=examples("mailqueue archive verify", "mailqueue archive verify 12 13"))
@_choice
@json_option
@click.pass_context
def verify(
    ctx: click.Context,
    *,
    ids: tuple[int, ...],
    project: str | None,
    month: date | None,
    kind: str | None,
) -> None:
    """Read archive files and compare them with the manifest; exit 1 when one is damaged."""
    found = run(_verified(FileFilter(ids, project, month, kind)))
    faults = [each for each in found if each.fault]

    def as_text() -> None:
        for each in faults:
            click.echo(f"error: {each.fault}", err=True)
        records = sum(each.records for each in found if not each.fault)
        click.echo(f"{len(found) - len(faults)} files are intact, with {records} records")

    print_result(VerifiedFiles(not faults, found), as_text)
    if faults:
        ctx.exit(EXIT_BROKEN)


@archive.command(
    epilog=examples(
        "mailqueue archive restore 12 --for 7d",
        "mailqueue archive restore --project shop --month 2026-05",
    )
)
@_choice
@click.option(
    "--for",
    "duration",
    metavar="DURATION",
    default="7d",
    show_default=True,
    help="How long the restored records stay in their tables; the first `mailqueue maintain"
    " archive` afterwards removes them.",
)
@json_option
def restore(
    *,
    ids: tuple[int, ...],
    project: str | None,
    month: date | None,
    kind: str | None,
    duration: str,
) -> None:
    """Restore archived records into their tables for a time. The files stay."""
    wanted = FileFilter(ids, project, month, kind)
    if wanted == FileFilter():
        raise click.UsageError("select files by ID, --project, --month or --kind")
    try:
        kept = parse_duration(duration)
    except ValueError as exc:
        raise click.BadParameter(str(exc), param_hint="--for") from None
    found = run(_restored(wanted, keep=kept))
    records = sum(each.records for each in found)
    print_message(RestoredFiles(found), f"{records} records of {len(found)} files restored")


@archive.command(
    epilog=examples(
        "mailqueue archive read 12",
        "mailqueue archive read --project shop --kind email_history --having ann@example.com",
    )
)
@_choice
@click.option("--having", metavar="TEXT", help="Filter by text anywhere in the record.")
def read(
    *,
    ids: tuple[int, ...],
    project: str | None,
    month: date | None,
    kind: str | None,
    having: str | None,
) -> None:
    """Print archived records as lines of JSON, read from the files."""
    run(_read(FileFilter(ids, project, month, kind), having))


async def _listed(app: Opened, filters: FileFilter, *, with_purged: bool) -> list[ArchiveFile]:
    return await manifest.listed(app.conn, filters, with_purged=with_purged)


async def _verified(filters: FileFilter) -> list[VerifiedFile]:
    with progress("reading", None) as advance:
        async with maintenance_context(advance) as desk:
            return [each async for each in manifest.verify(desk, filters)]


async def _restored(filters: FileFilter, *, keep: timedelta) -> list[Restored]:
    with progress("restoring", None) as advance:
        async with maintenance_context(advance) as desk, tasks.locked(desk, Task.ARCHIVE):
            return [each async for each in manifest.bring_back(desk, filters, keep=keep)]


async def _read(filters: FileFilter, having: str | None) -> None:
    async with maintenance_context(lambda _: None) as desk:
        async for line in manifest.read(desk, filters, having=having):
            click.echo(line.decode())


def _row(each: ArchiveFile) -> dict[str, object]:
    return {column.key: getattr(each, column.key) for column in _COLUMNS} | {
        "month": f"{each.month:%Y-%m}"
    }
