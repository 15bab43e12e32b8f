"""Confirmation of what cannot be undone: a question on a terminal, or `--yes`."""

import functools
import sys
from collections.abc import Callable
from typing import Any

import click

from mailqueue.cli.support.output import show

EXIT_NOT_CONFIRMED = 1

yes_option = click.option(
    "--yes", is_flag=True, help="Do not ask for confirmation; required without a terminal."
)


def asks_first(question: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add `--yes`, and ask a question before the command; `{name}` is the option of this name."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def asked(*args: Any, yes: bool, **options: Any) -> Any:
            shown = {name: show(value) for name, value in options.items()}
            confirm(question.format(**shown), is_sure=yes)
            return command(*args, **options)

        return yes_option(asked)

    return decorate


def confirm(question: str, *, is_sure: bool) -> None:
    """Return once the operation is confirmed: by `--yes` (`is_sure`), or on the terminal.

    Raises:
        ClickException: there is no terminal to ask on.
        Abort: the answer was no.
    """
    if is_sure:
        return
    if not has_terminal():
        raise click.ClickException(f"{question} There is no terminal to ask on: confirm with --yes")
    click.confirm(question, abort=True, err=True)


def has_terminal() -> bool:
    """Return whether a person can answer on standard input."""
    return sys.stdin.isatty()
