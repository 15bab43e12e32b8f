"""Options that the commands of watched inboxes share."""

import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any
from uuid import UUID

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.app import Opened
from mailqueue.contract.value import Value
from mailqueue.core.errors import InvalidField
from mailqueue.core.secret import Secret
from mailqueue.watch import gmail
from mailqueue.wiring.watch import inbox_consents

user_option = click.option(
    "--user", "user_id", type=click.UUID, metavar="ID", help="Filter by inbox user."
)
of_user_option = click.option(
    "--user", "user_id", type=click.UUID, required=True, metavar="ID", help="Inbox user."
)


def id_argument(name: str) -> Callable[[Any], Any]:
    """Return the argument of a command that acts on one row."""
    return click.argument("row_id", metavar=name, type=click.UUID)


async def remove_with_consents(
    app: Opened,
    project_id: UUID,
    remove: Callable[[], Awaitable[None]],
    *,
    inbox_id: UUID | None = None,
    user_id: UUID | None = None,
) -> None:
    """Remove an inbox, or a person with all inboxes; then end the consents to them at Google."""
    consents = inbox_consents(app.settings)
    tokens: list[Secret] = []
    async with app.conn.transaction():
        if consents is not None:
            tokens = await gmail.tokens_of(
                app.conn, project_id, inbox_id=inbox_id, user_id=user_id, master=app.master_key()
            )
        await remove()
    subject = inbox_id or user_id
    if tokens and subject is not None:
        result = "revoked" if await gmail.revoke(consents, tokens) else "not_revoked"
        await gmail.note(app.conn, project_id, subject, result=result, by=operator())


def pairs_of(one: Value) -> list[tuple[str, Any]]:
    """Return the fields of a value for `print_facts`."""
    fields: dict[str, Any] = asdict(one)  # type: ignore[call-overload]
    return [(key.replace("_", " "), value) for key, value in fields.items()]


def secret_of(variable: str | None, *, what: str, option: str) -> Secret:
    """Return a secret from an environment variable, or from a prompt on the terminal.

    Raises:
        InvalidField: the variable is not set, or there is no terminal.
    """
    if variable is not None:
        text = os.environ.get(variable)
        if not text:
            raise InvalidField(option, f"the environment variable {variable!r} is not set")
        return Secret(text)
    if not sys.stdin.isatty():
        raise InvalidField(option, f"give the environment variable that holds the {what.lower()}")
    return Secret(click.prompt(what, hide_input=True, err=True))
