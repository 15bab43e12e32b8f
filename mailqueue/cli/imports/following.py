"""Begin an import from the command line, and follow it until it ends."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO
from uuid import UUID

import click

from mailqueue.cli.support import polling
from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, print_message
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.output import Command, show
from mailqueue.cli.support.progress import progress
from mailqueue.cli.support.seekable import seekable
from mailqueue.contract.background import DataImport, ImportKind
from mailqueue.contract.suppression import BadLine
from mailqueue.db.fetch import Conn
from mailqueue.imports import requests
from mailqueue.imports.model import WantedImport
from mailqueue.projects import manage

EXIT_BAD_LINES = 1
"""Exit status where lines were refused, or the import failed."""
UNFINISHED = ("waiting", "running")


def background_options(command: Command) -> Command:
    """Add `--background` and `--wait`, which the command receives by name."""
    for add in (
        click.option("--wait", is_flag=True, help="With --background: wait for its end."),
        click.option(
            "--background", is_flag=True, help="Let a worker of the queue `imports` take the lines."
        ),
    ):
        command = add(command)
    return command


def check_options(*, background: bool, wait: bool, dry_run: bool) -> None:
    """Refuse options that exclude each other.

    Raises:
        UsageError: `--wait` without `--background`, or `--dry-run` with it.
    """
    if wait and not background:
        raise click.UsageError("--wait needs --background")
    if dry_run and background:
        raise click.UsageError("--dry-run excludes --background: nothing is changed")


def import_in_background(
    ctx: click.Context,
    kind: ImportKind,
    file: BinaryIO,
    *,
    project: str,
    options: Mapping[str, str | None],
    wait: bool,
) -> None:
    """Begin an import, wait for its end where that is asked for, and print what it is then."""
    asked = {name: value for name, value in options.items() if value is not None}

    async def begun(app: Opened) -> DataImport:
        project_id = (await manage.find(app.conn, project)).id
        with seekable(file) as whole:
            wanted = WantedImport(kind, whole, _name_of(file), asked)
            made = await requests.begin(app.conn, project_id, wanted, by=operator())
        return await ended(app.conn, project_id, made) if wait else made

    print_end(ctx, execute(begun))


async def ended(conn: Conn, project_id: UUID, one: DataImport) -> DataImport:
    """Return an import once it has ended; show its progress until then."""
    with progress("importing", one.lines or None) as advance:
        advance(one.lines_read)
        while one.state in UNFINISHED:
            await polling.until_next_look()
            before = one.lines_read
            one = await requests.find(conn, project_id, one.kind, one.id)
            advance(one.lines_read - before)
    return one


def print_end(ctx: click.Context, found: DataImport) -> None:
    """Print the lines that were refused and how an import stands; exit by what became of it."""
    for bad in found.refusals:
        print_refusal(bad)
    print_message(found, _sentence(found))
    if found.state in ("failed", "cancelled", "erased") or found.refused:
        ctx.exit(EXIT_BAD_LINES)


def print_refusal(bad: BadLine) -> None:
    """Print a line that was refused on standard error."""
    click.echo(f"line {bad.line}: {show(bad.text)}", err=True)


def counts_of(found: DataImport) -> str:
    """Return the numbers of lines by what became of them. Pure."""
    taken = (f"{count} {name.replace('_', ' ')}" for name, count in found.taken.items())
    lines = "line" if found.refused == 1 else "lines"
    return ", ".join((*taken, f"{found.refused} bad {lines}"))


def _name_of(file: BinaryIO) -> str | None:
    """Return the name of a file without its folder; None for standard input."""
    name = getattr(file, "name", None)
    if not isinstance(name, str) or name == "<stdin>":
        return None
    return os.fsencode(Path(name).name).decode(errors="replace")


def _sentence(found: DataImport) -> str:
    match found.state:
        case "done":
            return counts_of(found)
        case state if state in UNFINISHED:
            show_it = f"mailqueue import show {found.id} --project {found.project}"
            return f"import {found.id} has begun; {show_it} shows it"
        case state:
            why = f": {show(found.error)}" if found.error else ""
            return f"import {found.id}: {state}{why}; {counts_of(found)}"
