"""`mailqueue import`: imports that workers carry out."""

from uuid import UUID

import click

from mailqueue.cli.imports import following
from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import (
    execute,
    json_option,
    print_facts,
    print_message,
    print_rows,
)
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import Column, examples
from mailqueue.cli.support.shared_options import limit_option, project_option
from mailqueue.contract.background import DataImport, ImportKind
from mailqueue.imports import requests
from mailqueue.projects import manage

MAX_ROWS = 1000
"""Imports that one command lists."""
_ID = "019a9c2e-7d1c-7f6e-9d53-2f4f2f9c8a11"
_IMPORTS = (
    Column("id", "ID"),
    Column("kind", "KIND"),
    Column("file_name", "FILE"),
    Column("state", "STATE"),
    Column("lines_read", "READ", numeric=True),
    Column("refused", "BAD", numeric=True),
    Column("requested_by", "BY"),
    Column("created_at", "BEGUN"),
)


@click.group(
    "import",
    cls=CommandGroup,
    epilog=examples(
        "mailqueue contact import customers.csv --background",
        "mailqueue suppression import bounces.csv --background --wait",
        f"mailqueue import show {_ID}",
        f"mailqueue import cancel {_ID}",
    ),
)
def import_() -> None:
    """Show and cancel imports that workers carry out.

    `contact import` and `suppression import` begin one with `--background`.
    """


@import_.command("list", epilog=examples("mailqueue import list --project shop --json"))
@click.option("--kind", type=click.Choice([one.value for one in ImportKind]), help="Of this kind.")
@limit_option(MAX_ROWS, of="imports")
@project_option
@json_option
def list_(*, kind: str | None, limit: int, project: str) -> None:
    """List imports, newest first."""

    async def listed(app: Opened) -> list[DataImport]:
        project_id = (await manage.find(app.conn, project)).id
        wanted = None if kind is None else ImportKind(kind)
        return await requests.page(app.conn, project_id, wanted, limit=limit)

    print_rows(execute(listed), _IMPORTS, nothing="no imports")


@import_.command(
    epilog=examples(f"mailqueue import show {_ID} --json", f"mailqueue import show {_ID} --wait")
)
@click.argument("import_id", metavar="ID", type=click.UUID)
@click.option("--wait", is_flag=True, help="Wait for its end, and show the progress.")
@project_option
@json_option
@click.pass_context
def show(ctx: click.Context, *, import_id: UUID, wait: bool, project: str) -> None:
    """Show an import, its progress and the lines that it refused.

    The first 1,000 refused lines are printed on standard error.
    """

    async def shown(app: Opened) -> DataImport:
        project_id = (await manage.find(app.conn, project)).id
        found = await requests.find(app.conn, project_id, None, import_id)
        return await following.ended(app.conn, project_id, found) if wait else found

    found = execute(shown)
    if wait:
        following.print_end(ctx, found)
        return
    pairs = (
        ("id", found.id),
        ("project", found.project),
        ("kind", found.kind),
        ("options", " ".join(f"{name}={value}" for name, value in found.options.items()) or None),
        ("file", found.file_name),
        ("bytes", found.bytes),
        ("encoding", found.encoding),
        ("state", found.state),
        ("lines", found.lines),
        ("lines read", found.lines_read),
        ("lines by outcome", following.counts_of(found)),
        ("begun", found.created_at),
        ("by", found.requested_by),
        ("finished", found.finished_at),
        ("last error", found.error),
    )
    print_facts(found, [(name, value) for name, value in pairs if value is not None])
    for bad in found.refusals:
        following.print_refusal(bad)


@import_.command(epilog=examples(f"mailqueue import cancel {_ID} --project shop"))
@click.argument("import_id", metavar="ID", type=click.UUID)
@project_option
@json_option
def cancel(*, import_id: UUID, project: str) -> None:
    """Cancel an import; what was taken stays."""

    async def cancelled(app: Opened) -> DataImport:
        project_id = (await manage.find(app.conn, project)).id
        return await requests.cancel(app.conn, project_id, None, import_id, by=operator())

    found = execute(cancelled)
    print_message(found, f"import {found.id} is cancelled; {following.counts_of(found)} before")
