"""`mailqueue admin`: administrators of the HTTP API, and their tokens."""

from datetime import UTC, datetime, timedelta

import click

from mailqueue.admin import administrators
from mailqueue.admin.model import NewAdministrator
from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import (
    execute,
    json_option,
    print_message,
    print_result,
    print_rows,
)
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.confirmation import asks_first
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import Column, examples, facts
from mailqueue.contract.admin import CreatedAdministrator, RevokedAdministrator
from mailqueue.core.errors import InvalidField
from mailqueue.core.units import parse_duration

_COLUMNS = (
    Column("name", "ADMINISTRATOR"),
    Column("hint", "TOKEN"),
    Column("created_at", "SINCE"),
    Column("expires_at", "UNTIL"),
    Column("revoked_at", "REVOKED"),
    Column("last_used_at", "LAST USED"),
)


@click.group(
    cls=CommandGroup,
    old_names={"create": "add"},
    epilog=examples(
        "mailqueue admin add ann",
        "mailqueue admin list",
        "mailqueue admin revoke ann",
    ),
)
def admin() -> None:
    """Manage administrators of the HTTP API (/admin/…) and their tokens."""


@admin.command(epilog=examples("mailqueue admin add ann", "mailqueue admin add ci --for 30d"))
@click.argument("name")
@click.option(
    "--for",
    "lasting",
    metavar="TIME",
    help="Lifetime of the token, such as 30d.  [default: no end]",
)
@json_option
def add(*, name: str, lasting: str | None) -> None:
    """Add an administrator. The token is shown once: `Authorization: Bearer …`."""
    expires_at = None if lasting is None else datetime.now(UTC) + _time(lasting)

    async def created(app: Opened) -> NewAdministrator:
        async with app.conn.transaction():
            return await administrators.create(app.conn, name, by=operator(), expires_at=expires_at)

    made = execute(created)
    token = made.token.reveal()

    def as_text() -> None:
        facts((("administrator", made.record.name), ("until", made.record.expires_at)))
        click.echo(f"\n  {token}\n\nSave it now: it is not shown again.")

    print_result(CreatedAdministrator(made.record.name, token, made.record.expires_at), as_text)


@admin.command(name="list", epilog=examples("mailqueue admin list"))
@json_option
def list_() -> None:
    """List administrators, newest first, including revoked ones."""
    found = execute(lambda app: administrators.list_all(app.conn))
    print_rows(found, _COLUMNS)


@admin.command(epilog=examples("mailqueue admin revoke ann"))
@click.argument("name")
@asks_first("Revoke the token of administrator {name}?")
@json_option
def revoke(*, name: str) -> None:
    """Revoke an administrator's token. It takes effect at once."""
    execute(lambda app: administrators.revoke(app.conn, name, by=operator()))
    gone = RevokedAdministrator(name, is_revoked=True)
    print_message(gone, f"{name} is no longer an administrator")


def _time(text: str) -> timedelta:
    try:
        return parse_duration(text)
    except ValueError as exc:
        raise InvalidField("for", str(exc)) from None
