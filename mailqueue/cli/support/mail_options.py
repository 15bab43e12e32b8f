"""Options of every command that queues emails, and the option names of SQL's enqueue()."""

import functools
import json
from collections.abc import Callable
from typing import Any

import click

from mailqueue.core.mail_options import MAIL_OPTIONS, MailOption, OptionType

_PROJECT = click.option(
    "--project", default="default", show_default=True, help="Project of the email."
)
_WITH_FLAG = tuple(one for one in MAIL_OPTIONS if one.flag)


def _option(one: MailOption) -> Callable[..., Any]:
    """Return the click option of a mail option.

    Values are passed on unchanged; the SQL function validates them.
    """
    given: dict[str, Any] = {"help": one.help, "metavar": one.metavar}
    flag = one.flag
    match one.type:
        case OptionType.BOOLEAN:
            flag = f"{flag}/--no-{flag.removeprefix('--')}"
            given["default"] = None
        case OptionType.STRINGS:
            given["multiple"] = True
        case OptionType.WHOLE:
            given["type"] = int
        case OptionType.HEADERS:
            given |= {"multiple": True, "callback": lambda _ctx, _param, text: _headers(text)}
        case OptionType.OBJECT:
            given["callback"] = lambda _ctx, _param, text: _json(text)
        case _:
            pass
    return click.option(flag, one.name, **given)


def mail_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options; the command receives `project`, and all others given as `options`."""

    @functools.wraps(command)
    def packed(*args: Any, **others: Any) -> Any:
        taken = {one.name: others.pop(one.name) for one in _WITH_FLAG}
        return command(*args, options=given_only(taken), **others)

    wrapped: Callable[..., Any] = packed
    for one in reversed(_WITH_FLAG):
        wrapped = _option(one)(wrapped)
    return _PROJECT(wrapped)


def given_only(options: dict[str, Any]) -> dict[str, object]:
    """Return the options that were given, tuples as lists."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in options.items()
        if value is not None and value not in ((), {})
    }


def _headers(texts: tuple[str, ...]) -> dict[str, str]:
    headers = {}
    for text in texts:
        name, colon, value = text.partition(":")
        if not colon:
            raise click.BadParameter(f"must be NAME:VALUE, got {text!r}")
        if name in headers:
            raise click.BadParameter(f"{name} is given twice")
        headers[name] = value.strip(" \t")
    return headers


def _json(text: str | None) -> object:
    if text is None:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise click.BadParameter(f"this is not JSON: {exc}") from None
