"""`mailqueue producer add|remove|list`: logins that may enqueue for some projects only."""

from collections.abc import Sequence

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_message, print_rows
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import Column, examples
from mailqueue.contract.projects import BoundProducer
from mailqueue.projects.producers import manage

_COLUMNS = (Column("login", "LOGIN"), Column("projects", "PROJECTS"), Column("state", "STATE"))


@click.group(
    cls=CommandGroup,
    old_names={"bind": "add", "unbind": "remove"},
    epilog=examples(
        "mailqueue producer add shop_app shop",
        "mailqueue producer list",
        "mailqueue producer remove shop_app",
    ),
)
def producer() -> None:
    """Bind PostgreSQL logins to projects, so that they cannot enqueue for others."""


@producer.command(epilog=examples("mailqueue producer add shop_app shop shop-test"))
@click.argument("login")
@click.argument("projects", metavar="PROJECT...", nargs=-1, required=True)
@json_option
def add(*, login: str, projects: Sequence[str]) -> None:
    """Bind a login to projects, in addition to those it is bound to already."""
    bound = execute(lambda app: manage.bind(app.conn, login, projects, by=operator()))
    print_message(bound, f"{login} may enqueue for {', '.join(bound.projects)}, and no others")


@producer.command(
    epilog=examples(
        "mailqueue producer remove shop_app shop-test", "mailqueue producer remove shop_app"
    )
)
@click.argument("login")
@click.argument("projects", metavar="[PROJECT...]", nargs=-1)
@json_option
def remove(*, login: str, projects: Sequence[str]) -> None:
    """Unbind a login from projects, or from all. Unbound, it may enqueue for every project."""
    left = execute(lambda app: manage.unbind(app.conn, login, projects or None, by=operator()))
    allowed = "every project" if left is None else f"{', '.join(left.projects)}, and no others"
    print_message(left, f"{login} may enqueue for {allowed}")


@producer.command(name="list", epilog=examples("mailqueue producer list --json"))
@json_option
def list_() -> None:
    """List bound logins and their projects."""
    found = execute(lambda app: manage.list_all(app.conn))
    print_rows(found, _COLUMNS, row=_row, nothing="no login is bound to projects")


def _row(each: BoundProducer) -> dict[str, object]:
    state = "" if each.is_known else "the server has no such login"
    return {"login": each.login, "projects": ", ".join(each.projects), "state": state}
