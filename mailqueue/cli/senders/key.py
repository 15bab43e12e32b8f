"""Secrets of sender accounts, read from a variable, a file or a prompt, never from arguments."""

import os
import sys
from pathlib import Path
from typing import Any

import click
import orjson

from mailqueue.core.errors import InvalidField
from mailqueue.core.providers import Provider
from mailqueue.core.secret import Secret

MAX_FILE_OCTETS = 64 * 1024


def secret_of(
    provider: Provider,
    username: str | None,
    *,
    password_env: str | None,
    api_key_env: str | None,
    api_key_file: Path | None,
) -> Secret | None:
    """Return the password or key from a variable, a file or a prompt on the terminal."""
    named = [password_env, api_key_env, api_key_file]
    if sum(one is not None for one in named) > 1:
        raise InvalidField("api-key-env", "give only one source of the secret")
    if api_key_file is not None:
        return _from_file(api_key_file)
    if password_env is not None:
        return _from_variable(password_env, option="password-env")
    if api_key_env is not None:
        return _from_variable(api_key_env, option="api-key-env")
    if username is None and not provider.has_api:
        return None
    what = "API key" if provider.has_api else "Password"
    if not sys.stdin.isatty():
        option = "api-key-env" if provider.has_api else "password-env"
        missing = (
            f"provider {provider} needs an API key"
            if provider.has_api
            else f"username {username!r} needs a password"
        )
        raise InvalidField(option, f"{missing}: give the environment variable that holds it")
    return Secret(click.prompt(what, hide_input=True, err=True))


def settings_of(words: tuple[str, ...]) -> dict[str, Any] | None:
    """Return settings written NAME=VALUE; a value that is JSON, but not a number, is decoded."""
    settings: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not name or not equals:
            raise InvalidField("setting", f"must be NAME=VALUE, got {word!r}")
        if name in settings:
            raise InvalidField("setting", f"{name} is given twice")
        settings[name] = _value(text)
    return settings or None


def _value(text: str) -> Any:
    if text in ("true", "false") or text.startswith("{"):
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError as exc:
            raise InvalidField("setting", f"{text[:100]!r} is not JSON: {exc}") from exc
    return text


def _from_variable(variable: str, *, option: str) -> Secret:
    text = os.environ.get(variable)
    if not text:
        raise InvalidField(option, f"the environment variable {variable!r} is not set")
    return Secret(text)


def _from_file(path: Path) -> Secret:
    try:
        with path.open("rb") as file:
            octets = file.read(MAX_FILE_OCTETS + 1)
        text = octets.decode().strip()
    except (OSError, UnicodeDecodeError) as exc:
        raise InvalidField("api-key-file", f"{path} cannot be read: {exc}") from exc
    if not text or len(octets) > MAX_FILE_OCTETS:
        raise InvalidField("api-key-file", f"{path} must hold 1 to {MAX_FILE_OCTETS} bytes of text")
    return Secret(text)
