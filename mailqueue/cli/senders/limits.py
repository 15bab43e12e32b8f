"""`mailqueue sender limits`, and the options of limits: how much and how fast an account sends."""

from collections.abc import Callable
from typing import Any

import click

from mailqueue.cli.senders.view import print_outcome
from mailqueue.cli.support.answer import json_option
from mailqueue.cli.support.output import examples
from mailqueue.cli.support.warm_up_option import warm_up_option
from mailqueue.senders import accounts
from mailqueue.senders.model import KEEP, LimitsChange


def _or_none(kind: Callable[[str], Any]) -> Callable[[Any, Any, str | None], Any]:
    """Return a number, or None for `none`; an option that is not given keeps the value."""

    def read(_ctx: click.Context, _option: click.Parameter, text: str | None) -> Any:
        if text is None:
            return KEEP
        if text.lower() == "none":
            return None
        try:
            return kind(text)
        except ValueError:
            raise click.BadParameter(f"{text!r} is neither a number nor `none`") from None

    return read


_NUMBERS = (
    ("--daily-limit", int, "Recipients per day, or `none`."),
    ("--hourly-limit", int, "Recipients in any 60 minutes, or `none`."),
    ("--minute-limit", int, "Recipients in any 60 seconds, or `none`."),
    ("--rate-per-second", float, "Recipients per second, or `none`."),
    (
        "--burst",
        int,
        "Recipients that one second may have beyond the rate; `none`: one second of the rate.",
    ),
)
"""Options that take a number or `none`: flag, type and help."""
_WITH_NONE = tuple(flag.removeprefix("--").replace("-", "_") for flag, _, _ in _NUMBERS)
"""Limits to which None is a value: `none` was given."""
_OPTIONS = (
    *(
        click.option(flag, callback=_or_none(kind), metavar="N|none", help=text)
        for flag, kind, text in _NUMBERS
    ),
    click.option("--batch-size", type=int, help="Emails claimed at once."),
    click.option("--send-delay-ms", type=int, help="Milliseconds between two emails."),
    click.option("--max-connections", type=int, help="Maximum connections of one worker process."),
    click.option("--time-zone", help="Time zone of the daily limit, such as Europe/Berlin."),
    warm_up_option,
)
_NAMES = (
    *_WITH_NONE,
    *("batch_size", "send_delay_ms", "max_connections", "time_zone", "warm_up"),
)


def limit_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of limits; `limits_of` takes them from what the command receives."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def limits_of(options: dict[str, Any]) -> LimitsChange:
    """Take the limits from a command's options; those that were not given are kept."""
    named = {name: options.pop(name) for name in _NAMES}
    return LimitsChange(
        **{
            name: value
            for name, value in named.items()
            if value is not None or name in (*_WITH_NONE, "warm_up")
        }
    )


@click.command(
    epilog=examples(
        "mailqueue sender limits relay --daily-limit 1000",
        "mailqueue sender limits relay --daily-limit none --rate-per-second 14",
        "mailqueue sender limits relay --hourly-limit 500 --minute-limit 30",
        "mailqueue sender limits relay --warm-up default",
        "mailqueue sender limits relay --warm-up 200x2,1000x3,5000x5",
    )
)
@click.argument("name")
@click.option("--project", default="default", show_default=True, help="Project of the account.")
@limit_options
@json_option
def limits(*, name: str, project: str, **options: Any) -> None:
    """Change limits of an account. Limits not given stay as they are."""
    change = limits_of(options)
    if change == LimitsChange():
        raise click.UsageError("give at least one limit to change, such as --daily-limit 1000")
    print_outcome(
        lambda app: accounts.set_limits(app.conn, project, name=name, change=change),
    )
