"""`mailqueue vault byok`: projects that hold the key to their secrets themselves."""

import os
import sys
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import examples
from mailqueue.cli.vault.view import print_vaults
from mailqueue.contract.maintenance import ProjectVault
from mailqueue.core.errors import ConfigError, InvalidField
from mailqueue.core.units import parse_duration
from mailqueue.vault import ownkey
from mailqueue.vault.masterkey import MasterKey, parse_key, read_key_file
from mailqueue.vault.model import OwnKey
from mailqueue.vault.values import status_of

Command = TypeVar("Command", bound=Callable[..., object])


def key_options(command: Command) -> Command:
    """Add options that name the source of a key; arguments would be visible to other users."""
    file = click.option(
        "--key-file",
        type=click.Path(path_type=Path),
        help="File that holds the key, readable by its owner only.",
    )
    variable = click.option(
        "--key-env",
        metavar="VAR",
        help="Environment variable that holds the key; without it, a terminal is prompted.",
    )
    return variable(file(command))


@click.group(
    cls=CommandGroup,
    epilog=examples(
        "mailqueue vault byok set shop --key-env SHOP_KEY --unlock 8h",
        "mailqueue vault byok unlock shop --key-env SHOP_KEY --for 8h",
        "mailqueue vault byok lock shop",
        "mailqueue vault byok release shop --key-env SHOP_KEY",
    ),
)
def byok() -> None:
    """Manage customer-held keys (BYOK): emails of a project are sent only while it is unlocked."""


@byok.command(
    "set", epilog=examples("mailqueue vault byok set shop --key-env SHOP_KEY --unlock 8h")
)
@click.argument("project")
@key_options
@click.option(
    "--unlock", "lasts", metavar="DURATION", help="Also unlock the project for this duration."
)
@json_option
def set_(*, project: str, key_env: str | None, key_file: Path | None, lasts: str | None) -> None:
    """Wrap PROJECT's data keys with its own key: 32 bytes in base64 or hexadecimal digits.

    The key is not stored. If it is lost, the project's passwords and signing keys are lost.
    """
    own, time = _own_key(key_env, key_file), None if lasts is None else _duration("unlock", lasts)
    _print(
        lambda app, master: ownkey.set_own(
            app.conn, project, own=own, master=master, unlock_for=time, by=operator()
        ),
    )


@byok.command(epilog=examples("mailqueue vault byok unlock shop --key-env SHOP_KEY --for 8h"))
@click.argument("project")
@key_options
@click.option("--for", "lasts", metavar="DURATION", required=True, help="Duration, such as 8h.")
@json_option
def unlock(*, project: str, key_env: str | None, key_file: Path | None, lasts: str) -> None:
    """Unlock PROJECT for a time, so that its emails are sent; afterwards they wait."""
    own, time = _own_key(key_env, key_file), _duration("for", lasts)
    _print(
        lambda app, master: ownkey.unlock(
            app.conn, project, own=own, master=master, lasts=time, by=operator()
        ),
    )


@byok.command(epilog=examples("mailqueue vault byok lock shop"))
@click.argument("project")
@json_option
def lock(*, project: str) -> None:
    """Lock PROJECT at once: its emails wait from the next claim on."""

    async def work(app: Opened) -> tuple[MasterKey | None, list[ProjectVault]]:
        return app.master_key(), await ownkey.lock(app.conn, project, by=operator())

    master, found = execute(work)
    print_vaults(found, master=master, document=status_of(found))


@byok.command(epilog=examples("mailqueue vault byok release shop --key-env SHOP_KEY"))
@click.argument("project")
@key_options
@json_option
def release(*, project: str, key_env: str | None, key_file: Path | None) -> None:
    """Wrap PROJECT's data keys with the master key again."""
    own = _own_key(key_env, key_file)
    _print(
        lambda app, master: ownkey.release(
            app.conn, project, own=own, master=master, by=operator()
        ),
    )


def _print(verb: Callable[[Opened, MasterKey], Awaitable[list[ProjectVault]]]) -> None:
    async def work(app: Opened) -> tuple[MasterKey, list[ProjectVault]]:
        master = app.master_key()
        if master is None:
            raise ConfigError("there is no master key: set MAILQUEUE_MASTER_KEY")
        return master, await verb(app, master)

    master, found = execute(work)
    print_vaults(found, master=master, document=status_of(found))


def _own_key(variable: str | None, file: Path | None) -> OwnKey:
    if variable is not None and file is not None:
        raise click.UsageError("give --key-env or --key-file, not both")
    if file is not None:
        found = read_key_file(file)
        if found is None:
            raise InvalidField("key-file", f"the file {file} does not exist")
        return OwnKey(found.key)
    if variable is not None:
        text = os.environ.get(variable)
        if not text:
            raise InvalidField("key-env", f"the environment variable {variable!r} is not set")
        return OwnKey(parse_key(text, source=variable))
    if not sys.stdin.isatty():
        raise InvalidField("key-env", "give the key with --key-env or --key-file")
    return OwnKey(parse_key(click.prompt("Key", hide_input=True, err=True), source="the key"))


def _duration(field: str, text: str) -> timedelta:
    try:
        return parse_duration(text)
    except ValueError as exc:
        raise InvalidField(field, str(exc)) from None
