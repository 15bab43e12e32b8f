"""Secrets beside the variables: in files of their own, or printed by a program."""

import shlex
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator
from pydantic_settings import BaseSettings, NoDecode

from mailqueue.core.errors import ConfigError
from mailqueue.core.secret import Secret
from mailqueue.settings.commands import SecretCommand

MAX_BYTES = 4096
"""Most bytes of a file with a secret."""


def _words(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        words = shlex.split(value)
    except ValueError:
        words = []
    if not words or not value.isprintable():
        raise ValueError("must be a program and its arguments, quoted as for a shell")
    return tuple(words)


CommandVariable = Annotated[tuple[str, ...] | None, NoDecode, BeforeValidator(_words)]


class SecretFileVariables(BaseSettings):
    """The variables that name such files and programs."""

    database_password_file: Path | None = None
    database_password_command: CommandVariable = None
    master_key_file: Path | None = None
    master_key_command: CommandVariable = None
    master_key_previous_file: Path | None = None
    master_key_previous_command: CommandVariable = None


def secret_of(
    variable: str,
    path: Path | None,
    given: Secret | None = None,
    *,
    argv: tuple[str, ...] | None = None,
) -> Secret | None:
    """Return the secret in a file or printed by a program, without white space around it.

    `given` where neither is named. A program is run at once, and waited for.

    Raises:
        ConfigError: the file cannot be read, has no text or more than one line, the program fails,
            or the secret is given in two ways.
    """
    _refuse_two(variable, {"_FILE": path, "_COMMAND": argv, "": given})
    if argv is not None:
        return SecretCommand(f"{variable}_COMMAND", argv).run()
    if path is None:
        return given
    name = f"MAILQUEUE_{variable}_FILE: {path}"
    try:
        with path.open("rb") as file:
            text = file.read(MAX_BYTES + 1).decode().strip()
    except OSError as exc:
        raise ConfigError(f"{name}: {exc.strerror}") from exc
    except UnicodeDecodeError as exc:
        raise ConfigError(f"{name}: is not text in UTF-8") from exc
    if not text or len(text) > MAX_BYTES or not text.isprintable():
        raise ConfigError(f"{name}: must have one line of at most {MAX_BYTES} bytes")
    return Secret(text)


def password_command(env: SecretFileVariables) -> SecretCommand | None:
    """Return the program that prints passwords of the database; None if none is named.

    Raises:
        ConfigError: a file with a password is named too.
    """
    return command_of(
        "DATABASE_PASSWORD", env.database_password_file, env.database_password_command
    )


def command_of(
    variable: str, path: Path | None, argv: tuple[str, ...] | None
) -> SecretCommand | None:
    """Return the program that prints a secret whenever it is needed; None if none is named.

    Raises:
        ConfigError: a file with the secret is named too.
    """
    _refuse_two(variable, {"_FILE": path, "_COMMAND": argv})
    return None if argv is None else SecretCommand(f"{variable}_COMMAND", argv)


def _refuse_two(variable: str, ways: dict[str, object]) -> None:
    named = [f"MAILQUEUE_{variable}{end}" for end, value in ways.items() if value is not None]
    if len(named) > 1:
        raise ConfigError(f"{named[0]}: set either it or {named[1]}, not both")
