"""`mailqueue operation`: operations on all matching emails that workers carry out."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import click

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
from mailqueue.cli.support.shared_options import limit_option
from mailqueue.contract.background import BackgroundOperation
from mailqueue.operations import background
from mailqueue.projects import manage as projects_manage

MAX_ROWS = 1000
"""Operations that one command lists."""
_ID = "019a9c2e-7d1c-7f6e-9d53-2f4f2f9c8a11"
_OPERATIONS = (
    Column("id", "ID"),
    Column("project", "PROJECT"),
    Column("verb", "VERB"),
    Column("filter", "FILTER"),
    Column("state", "STATE"),
    Column("emails", "EMAILS", numeric=True),
    Column("requested_by", "BY"),
    Column("created_at", "BEGUN"),
)


@click.group(
    cls=CommandGroup,
    epilog=examples(
        "mailqueue operation list --project default",
        f"mailqueue operation show {_ID}",
        f"mailqueue operation stop {_ID}",
    ),
)
def operation() -> None:
    """Show and stop operations on all matching emails that workers carry out.

    `mailqueue email hold`, `release`, `cancel`, `requeue` and `move` begin them with --background,
    as do the console and the HTTP API.
    """


@operation.command("list", epilog=examples("mailqueue operation list --project default --json"))
@click.option("--project", help="Only operations of this project.")
@limit_option(MAX_ROWS, of="operations")
@json_option
def list_(*, project: str | None, limit: int) -> None:
    """List operations, newest first."""
    found = execute(lambda app: _listed(app, project, limit))
    print_rows(found, _OPERATIONS, row=_row, nothing="no operations")


@operation.command(epilog=examples(f"mailqueue operation show {_ID} --json"))
@click.argument("operation_id", metavar="ID", type=click.UUID)
@json_option
def show(*, operation_id: UUID) -> None:
    """Show an operation and its progress."""
    found = execute(lambda app: background.find(app.conn, None, operation_id))
    print_facts(found, _facts(found))


@operation.command(epilog=examples(f"mailqueue operation stop {_ID}"))
@click.argument("operation_id", metavar="ID", type=click.UUID)
@json_option
def stop(*, operation_id: UUID) -> None:
    """Stop an operation after its current batch; emails that it has changed stay changed."""
    found = execute(lambda app: background.stop(app.conn, None, operation_id, by=operator()))
    print_message(found, f"{found.state}; {found.emails} emails changed")


async def _listed(app: Opened, project: str | None, limit: int) -> list[BackgroundOperation]:
    project_id = None if project is None else (await projects_manage.find(app.conn, project)).id
    return await background.page(app.conn, project_id, limit=limit)


def _row(one: BackgroundOperation) -> dict[str, object]:
    return {
        "id": one.id,
        "project": one.project,
        "verb": one.verb,
        "filter": _condition_text(one.filter),
        "state": one.state,
        "emails": one.emails,
        "requested_by": one.requested_by,
        "created_at": one.created_at,
    }


def _facts(one: BackgroundOperation) -> list[tuple[str, object]]:
    pairs = (
        ("id", one.id),
        ("project", one.project),
        ("verb", one.verb),
        ("filter", _condition_text(one.filter)),
        ("to", one.to),
        ("reason", one.reason),
        ("state", one.state),
        ("emails changed", one.emails),
        ("emails searched", one.searched),
        ("pass", one.passes),
        ("begun", one.created_at),
        ("by", one.requested_by),
        ("stopped by", one.stop_requested_by),
        ("finished", one.finished_at),
        ("last error", one.error),
    )
    return [(name, value) for name, value in pairs if value is not None]


def _condition_text(conditions: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in conditions.items())
