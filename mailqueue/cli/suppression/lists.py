"""`mailqueue suppression import` and `export`: whole suppression lists."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import BinaryIO

import click

from mailqueue.cli.imports.following import (
    EXIT_BAD_LINES,
    background_options,
    check_options,
    import_in_background,
    print_refusal,
)
from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import json_option, print_message
from mailqueue.cli.support.app import opened, run
from mailqueue.cli.support.output import examples
from mailqueue.cli.support.progress import progress
from mailqueue.cli.support.seekable import seekable
from mailqueue.contract.background import ImportKind
from mailqueue.contract.suppression import ListEncoding, SuppressionReason
from mailqueue.core.errors import MailqueueError
from mailqueue.db.fetch import Conn
from mailqueue.suppression.lists import exporting
from mailqueue.suppression.lists.exporting import Format
from mailqueue.suppression.lists.importing import import_list
from mailqueue.suppression.model import ImportTally

_project = click.option(
    "--project", default="default", show_default=True, help="Project of the list."
)
_REASONS = click.Choice([reason.value for reason in SuppressionReason])


@click.command(
    "import",
    epilog=examples(
        "mailqueue suppression import unsubscribed.csv --reason unsubscribed",
        "mailqueue suppression import bounces.csv --dry-run",
        "mailqueue suppression import bounces.csv --background --wait",
        "mailqueue suppression export --project shop | mailqueue suppression import -",
    ),
)
@click.argument("file", metavar="FILE", type=click.File("rb"))
@click.option("--reason", type=_REASONS, help="Reason for lines without one.  [default: manual]")
@click.option("--dry-run", is_flag=True, help="Validate and count every line; change nothing.")
@background_options
@_project
@json_option
@click.pass_context
def import_(
    ctx: click.Context,
    *,
    file: BinaryIO,
    reason: str | None,
    dry_run: bool,
    background: bool,
    wait: bool,
    project: str,
) -> None:
    """Suppress the addresses of a file: CSV with a header, or JSON.

    Columns are email, reason, category, detail and expires_at; others are ignored. Invalid lines
    are reported with their number and do not stop the others. Importing again adds what is missing.
    The file may be in UTF-8, UTF-16 with a byte order mark, or Windows-1252.
    """
    check_options(background=background, wait=wait, dry_run=dry_run)
    if background:
        options = {"reason": reason}
        import_in_background(
            ctx, ImportKind.SUPPRESSIONS, file, project=project, options=options, wait=wait
        )
        return
    tally = ImportTally()

    async def imported() -> None:
        with seekable(file) as whole, progress("importing", None) as advance:
            async with opened() as app:
                await import_list(
                    app.conn,
                    project,
                    file=whole,
                    otherwise=None if reason is None else SuppressionReason(reason),
                    is_trial=dry_run,
                    by=operator(),
                    tally=tally,
                    tell=print_refusal,
                    advance=advance,
                )

    try:
        run(imported())
    except MailqueueError:
        if tally.added and not dry_run:
            click.echo(f"{tally.added} addresses were added before the error", err=True)
        raise
    _print(tally, dry_run=dry_run)
    if tally.bad:
        ctx.exit(EXIT_BAD_LINES)


@click.command(
    epilog=examples(
        "mailqueue suppression export > suppressions.csv",
        "mailqueue suppression export --format json --reason complaint --project shop",
    )
)
@click.option(
    "--format",
    "form",
    type=click.Choice([form.value for form in Format]),
    default=Format.CSV.value,
    show_default=True,
    help="Format of the output.",
)
@click.option("--reason", type=_REASONS, help="Filter by reason.")
@click.option("--category", help="Filter by category.")
@_project
def export(*, form: str, reason: str | None, category: str | None, project: str) -> None:
    """Print all suppressed addresses in the format that `import` reads.

    Cells that a spreadsheet would read as a formula are prefixed; `import` removes the prefix.
    """

    async def exported() -> None:
        out = sys.stdout.buffer
        async with opened() as app:

            @asynccontextmanager
            async def lend() -> AsyncIterator[Conn]:
                yield app.conn

            async for piece in exporting.export(
                lend,
                project,
                form=Format(form),
                reason=None if reason is None else SuppressionReason(reason),
                category=category,
            ):
                out.write(piece)
        out.flush()

    run(exported())


def _print(tally: ImportTally, *, dry_run: bool) -> None:
    words = "would be added" if dry_run else "added"
    lines = "line" if tally.bad == 1 else "lines"
    print_message(
        tally.result(is_trial=dry_run),
        f"{tally.added} {words}, {tally.renewed} renewed, {tally.there_already} there already, "
        f"{tally.bad} bad {lines}{_left_out(tally.erased)}{_read_in(tally.encoding)}",
    )


def _left_out(erased: int) -> str:
    return f"; {erased} of erased persons, without an address, left out" if erased else ""


def _read_in(encoding: ListEncoding) -> str:
    return "" if encoding is ListEncoding.UTF_8 else f"; read as {encoding}"
