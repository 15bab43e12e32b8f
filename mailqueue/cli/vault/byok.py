"""`mailqueue vault byok`: projects that keep the key to their secrets themselves."""

import os
import sys
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.app import Opened, opened, run
from mailqueue.cli.support.output import examples, json_option
from mailqueue.cli.vault.view import print_vaults
from mailqueue.core.errors import ConfigError, InvalidField
from mailqueue.core.units import parse_duration
from mailqueue.vault import ownkey
from mailqueue.vault.masterkey import MasterKey, parse_key, read_key_file
from mailqueue.vault.model import OwnKey, ProjectVault

Command = TypeVar("Command", bound=Callable[..., object])


def key_options(command: Command) -> Command:
    """Add the ways to hand a key over: never as an argument, which others could see."""
    file = click.option(
        "--key-file",
        type=click.Path(path_type=Path),
        help="File that holds the key, readable by its owner only.",
    )
    variable = click.option(
        "--key-env",
        metavar="VAR",
        help="Environment variable that holds the key; asked for on a terminal if not named.",
    )
    return variable(file(command))


@click.group(
    epilog=examples(
        "mailqueue vault byok set shop --key-env SHOP_KEY --unlock 8h",
        "mailqueue vault byok unlock shop --key-env SHOP_KEY --for 8h",
        "mailqueue vault byok lock shop",
        "mailqueue vault byok release shop --key-env SHOP_KEY",
    )
)
def byok() -> None:
    """Let a project keep the key to its secrets: its mail goes out while it allows it."""


@byok.command(
    "set", epilog=examples("mailqueue vault byok set shop --key-env SHOP_KEY --unlock 8h")
)
@click.argument("project")
@key_options
@click.option("--unlock", "lasts", metavar="DURATION", help="Unlock it at once for so long.")
@json_option
def set_(
    *, project: str, key_env: str | None, key_file: Path | None, lasts: str | None, as_json: bool
) -> None:
    """Wrap PROJECT's data keys by its own key: 32 bytes in base64 or hexadecimal digits.

    The key is not stored. Whoever loses it loses the project's passwords and signing keys.
    """
    own, time = _own_key(key_env, key_file), None if lasts is None else _duration("unlock", lasts)
    _print(
        lambda app, master: ownkey.set_own(
            app.conn, project, own=own, master=master, unlock_for=time, by=operator()
        ),
        as_json=as_json,
    )


@byok.command(epilog=examples("mailqueue vault byok unlock shop --key-env SHOP_KEY --for 8h"))
@click.argument("project")
@key_options
@click.option("--for", "lasts", metavar="DURATION", required=True, help="How long from now on.")
@json_option
def unlock(
    *, project: str, key_env: str | None, key_file: Path | None, lasts: str, as_json: bool
) -> None:
    """Let PROJECT's mail go out for a time; afterwards it waits."""
    own, time = _own_key(key_env, key_file), _duration("for", lasts)
    _print(
        lambda app, master: ownkey.unlock(
            app.conn, project, own=own, master=master, lasts=time, by=operator()
        ),
        as_json=as_json,
    )


@byok.command(epilog=examples("mailqueue vault byok lock shop"))
@click.argument("project")
@json_option
def lock(*, project: str, as_json: bool) -> None:
    """End PROJECT's time at once: its mail waits from the next claim on."""

    async def work() -> tuple[MasterKey | None, list[ProjectVault]]:
        async with opened() as app:
            return app.master_key(), await ownkey.lock(app.conn, project, by=operator())

    master, found = run(work())
    print_vaults(found, master=master, as_json=as_json)


@byok.command(epilog=examples("mailqueue vault byok release shop --key-env SHOP_KEY"))
@click.argument("project")
@key_options
@json_option
def release(*, project: str, key_env: str | None, key_file: Path | None, as_json: bool) -> None:
    """Wrap PROJECT's data keys by the master key again."""
    own = _own_key(key_env, key_file)
    _print(
        lambda app, master: ownkey.release(
            app.conn, project, own=own, master=master, by=operator()
        ),
        as_json=as_json,
    )


def _print(
    verb: Callable[[Opened, MasterKey], Awaitable[list[ProjectVault]]], *, as_json: bool
) -> None:
    async def work() -> tuple[MasterKey, list[ProjectVault]]:
        async with opened() as app:
            master = app.master_key()
            if master is None:
                raise ConfigError("there is no master key: set MAILQUEUE_MASTER_KEY")
            return master, await verb(app, master)

    master, found = run(work())
    print_vaults(found, master=master, as_json=as_json)


def _own_key(variable: str | None, file: Path | None) -> OwnKey:
    if variable is not None and file is not None:
        raise click.UsageError("say --key-env or --key-file, not both")
    if file is not None:
        found = read_key_file(file)
        if found is None:
            raise InvalidField("key-file", f"there is no file {file}")
        return OwnKey(found.key)
    if variable is not None:
        text = os.environ.get(variable)
        if not text:
            raise InvalidField("key-env", f"the environment has no variable {variable!r}")
        return OwnKey(parse_key(text, source=variable))
    if not sys.stdin.isatty():
        raise InvalidField("key-env", "name the variable that holds the key, or use --key-file")
    return OwnKey(parse_key(click.prompt("Key", hide_input=True, err=True), source="the key"))


def _duration(field: str, text: str) -> timedelta:
    try:
        return parse_duration(text)
    except ValueError as exc:
        raise InvalidField(field, str(exc)) from None
