"""`mailqueue contact import` and `export`."""

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
from mailqueue.cli.support.answer import json_option, print_message
from mailqueue.cli.support.app import opened, run
from mailqueue.cli.support.output import examples
from mailqueue.cli.support.progress import progress
from mailqueue.cli.support.seekable import seekable
from mailqueue.cli.support.shared_options import project_option
from mailqueue.contacts import exporting
from mailqueue.contacts.importing import import_contacts
from mailqueue.contacts.model import ContactTally
from mailqueue.contract.background import ImportKind
from mailqueue.contract.suppression import ListEncoding
from mailqueue.core.errors import MailqueueError
from mailqueue.db.fetch import Conn
from mailqueue.projects.ids import project_id_of
from mailqueue.suppression.lists.exporting import Format


@click.command(
    "import",
    epilog=examples(
        "mailqueue contact import customers.csv --dry-run",
        "mailqueue contact import customers.csv --list news",
        "mailqueue contact import customers.csv --background --wait",
        "mailqueue contact export --project shop | mailqueue contact import -",
    ),
)
@click.argument("file", metavar="FILE", type=click.File("rb"))
@click.option("--list", "list_name", metavar="LIST", help="List that the contacts are added to.")
@click.option("--dry-run", is_flag=True, help="Read and count every line; change nothing.")
@background_options
@project_option
@json_option
@click.pass_context
def import_(
    ctx: click.Context,
    *,
    file: BinaryIO,
    list_name: str | None,
    dry_run: bool,
    background: bool,
    wait: bool,
    project: str,
) -> None:
    """Add the contacts of a file, CSV with a header or JSON, or change those that are there.

    Columns are email, first_name, last_name, time_zone, date_of_birth, language, consented_at,
    consent_source, consent_wording and attributes; others are attributes of their own. Invalid
    lines are reported with their number and do not stop the others. Importing again continues an
    import that was interrupted.
    """
    check_options(background=background, wait=wait, dry_run=dry_run)
    if background:
        options = {"list": list_name}
        import_in_background(
            ctx, ImportKind.CONTACTS, file, project=project, options=options, wait=wait
        )
        return
    tally = ContactTally()

    async def imported() -> None:
        with seekable(file) as whole, progress("importing", None) as advance:
            async with opened() as app:
                await import_contacts(
                    app.conn,
                    await project_id_of(app.conn, project),
                    file=whole,
                    list_name=list_name,
                    is_trial=dry_run,
                    tally=tally,
                    tell=print_refusal,
                    advance=advance,
                )

    try:
        run(imported())
    except MailqueueError:
        if tally.added + tally.changed and not dry_run:
            click.echo(f"{tally.added + tally.changed} lines were taken before the error", err=True)
        raise
    _print(tally, dry_run=dry_run)
    if tally.bad:
        ctx.exit(EXIT_BAD_LINES)


@click.command(
    epilog=examples(
        "mailqueue contact export > contacts.csv",
        "mailqueue contact export --list news --format json",
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
@click.option("--list", "list_name", metavar="LIST", help="Contacts of this list only.")
@project_option
def export(*, form: str, list_name: str | None, project: str) -> None:
    """Print contacts in the format that `import` reads.

    Cells that a spreadsheet would read as a formula are prefixed; `import` removes the prefix.
    """

    async def exported() -> None:
        out = sys.stdout.buffer
        async with opened() as app:

            @asynccontextmanager
            async def lend() -> AsyncIterator[Conn]:
                yield app.conn

            project_id = await project_id_of(app.conn, project)
            pieces = exporting.export(lend, project_id, form=Format(form), list_name=list_name)
            async for piece in pieces:
                out.write(piece)
        out.flush()

    run(exported())


def _print(tally: ContactTally, *, dry_run: bool) -> None:
    words = "would be added" if dry_run else "added"
    lines = "line" if tally.bad == 1 else "lines"
    read = "" if tally.encoding is ListEncoding.UTF_8 else f"; read as {tally.encoding}"
    print_message(
        tally.result(is_trial=dry_run),
        f"{tally.added} {words}, {tally.changed} changed, {tally.unchanged} unchanged, "
        f"{tally.bad} bad {lines}{read}",
    )
