"""`mailqueue verify`: whether every accepted mail is accounted for."""

import click

from mailqueue.cli.context import opened, run
from mailqueue.cli.output import Column, emit, examples, json_option, table
from mailqueue.operations import books
from mailqueue.operations.model import BookLine

EXIT_DIFFERENCE = 1

# What became of mail; a word that no mail has is left out of the table.
_OUTCOMES = ("sent", "failed", "suppressed", "expired", "cancelled", "queued", "held")


@click.command(epilog=examples("mailqueue verify", "mailqueue verify --json"))
@json_option
@click.pass_context
def verify(ctx: click.Context, *, as_json: bool) -> None:
    """Compare accepted email with what became of it; exit 1 when a difference is not 0.

    Accepted mail is counted by what the accepting transactions wrote, not by the mails
    themselves, so that a row that was lost is noticed.
    """
    lines = run(_read())
    faults = books.faults(lines)
    if as_json:
        emit({"adds_up": not faults, "faults": faults, "books": lines})
    else:
        _print(lines, faults)
    if faults:
        ctx.exit(EXIT_DIFFERENCE)


def _print(lines: list[BookLine], faults: list[str]) -> None:
    if lines:
        table(lines, _columns(lines))
    for fault in faults:
        click.echo(f"error: {fault}", err=True)
    if not faults:
        accepted = sum(line.accepted for line in lines)
        click.echo(f"the books add up: {accepted} emails accepted, each accounted for")


def _columns(lines: list[BookLine]) -> list[Column]:
    outcomes = [word for word in _OUTCOMES if any(getattr(line, word) for line in lines)]
    counts = ("accepted", *outcomes, "difference")
    return [
        Column("project", "PROJECT"),
        Column("day", "DAY (UTC)"),
        *(Column(name, name.upper(), numeric=True) for name in counts),
    ]


async def _read() -> list[BookLine]:
    async with opened() as app:
        return await books.check(app.conn)
