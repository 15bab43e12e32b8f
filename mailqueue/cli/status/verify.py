"""`mailqueue verify`: check that every accepted email and every file is accounted for."""

import click

from mailqueue.cli.support.answer import execute, json_option, print_result
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.output import Column, examples, show, table
from mailqueue.contract.operations import BookLine, Verification
from mailqueue.mail.message.verify_files import Checked, check_files
from mailqueue.operations import books
from mailqueue.wiring.files import attachment_storage

EXIT_DIFFERENCE = 1

# Statuses of mail; a status without mail is left out of the table.
_OUTCOMES = ("sent", "failed", "suppressed", "expired", "cancelled", "queued", "held")


@click.command(
    epilog=examples("mailqueue verify", "mailqueue verify --json", "mailqueue verify --files")
)
@click.option(
    "--files", "with_files", is_flag=True, help="Also read all attachments in folders and buckets."
)
@json_option
@click.pass_context
def verify(ctx: click.Context, *, with_files: bool) -> None:
    """Compare the number of accepted emails with their outcomes; exit 1 if they differ.

    Accepted emails are counted from counters that the accepting transactions wrote, not from the
    rows of the emails, so that a lost row is detected.
    """
    lines, checked = execute(lambda app: _read(app, with_files=with_files))
    faults = books.faults(lines)
    damaged = [] if checked is None else list(checked.faults)
    files = None if checked is None else checked.files
    document = Verification(not faults, faults + damaged, lines, files)

    def as_text() -> None:
        _print(lines, faults)
        _print_files(checked)

    print_result(document, as_text)
    if faults or damaged:
        ctx.exit(EXIT_DIFFERENCE)


def _print_files(checked: Checked | None) -> None:
    if checked is None:
        return
    for fault in checked.faults:
        click.echo(f"error: {show(fault)}", err=True)
    click.echo(f"{checked.files} files read, {len(checked.faults)} missing or damaged")


def _print(lines: list[BookLine], faults: list[str]) -> None:
    if lines:
        table(lines, _columns(lines))
    for fault in faults:
        click.echo(f"error: {fault}", err=True)
    if not faults:
        accepted = sum(line.accepted for line in lines)
        click.echo(f"all {accepted} accepted emails are accounted for")


def _columns(lines: list[BookLine]) -> list[Column]:
    outcomes = [word for word in _OUTCOMES if any(getattr(line, word) for line in lines)]
    counts = ("accepted", *outcomes, "difference")
    return [
        Column("project", "PROJECT"),
        Column("day", "DAY (UTC)"),
        *(Column(name, name.upper(), numeric=True) for name in counts),
    ]


async def _read(app: Opened, *, with_files: bool) -> tuple[list[BookLine], Checked | None]:
    lines = await books.check(app.conn)
    if not with_files:
        return lines, None
    return lines, await check_files(app.conn, attachment_storage(app.settings.attachments))
