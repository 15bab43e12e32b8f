"""`mailqueue sender`: show, add, change and test sender accounts."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import click

from mailqueue.cli.senders.add import add
from mailqueue.cli.senders.health import health
from mailqueue.cli.senders.order import prefer, remove
from mailqueue.cli.senders.rates import rates
from mailqueue.cli.senders.trial import test
from mailqueue.cli.senders.view import print_accounts, print_outcome
from mailqueue.cli.senders.webhook import webhook
from mailqueue.cli.support.answer import json_option
from mailqueue.cli.support.output import examples
from mailqueue.cli.support.warm_up_option import warm_up_option
from mailqueue.core.errors import InvalidField
from mailqueue.core.units import parse_duration
from mailqueue.senders import accounts
from mailqueue.senders.model import KEEP, LimitsChange, Unchanged

project_option = click.option(
    "--project", default="default", show_default=True, help="Project of the account."
)


@click.group(
    epilog=examples(
        "mailqueue sender add --name relay --host smtp.example.com --tls starttls",
        "mailqueue sender list",
        "mailqueue sender COMMAND --help",
    )
)
def sender() -> None:
    """Add, change and test sender accounts."""


@sender.command(
    "list",
    epilog=examples("mailqueue sender list", "mailqueue sender list --project shop --json"),
)
@click.option("--project", help="Filter by project.")
@json_option
def list_(*, project: str | None) -> None:
    """List sender accounts in the order in which they are tried."""
    print_accounts(project)


@sender.command(
    epilog=examples("mailqueue sender show relay", "mailqueue sender show relay --json")
)
@click.argument("name")
@project_option
@json_option
def show(*, name: str, project: str) -> None:
    """Show one sender account. Its password is never shown."""
    print_outcome(lambda app: accounts.find(app.conn, project, name=name))


@sender.command(
    epilog=examples(
        "mailqueue sender pause relay --reason 'moving to another host'",
        "mailqueue sender pause relay --until 2h",
        "mailqueue sender pause relay --until 2030-01-31T08:00+01:00",
    )
)
@click.argument("name")
@project_option
@click.option("--reason", help="Reason, shown by `mailqueue why`.")
@click.option(
    "--until", help="End: a point in time, or a duration such as 30min or 2h.  [default: no end]"
)
@json_option
def pause(*, name: str, project: str, reason: str | None, until: str | None) -> None:
    """Pause an account; its emails wait or are sent by another account."""
    end = None if until is None else _end(until)
    print_outcome(
        lambda app: accounts.pause(app.conn, project, name=name, reason=reason, until=end),
    )


@sender.command(epilog=examples("mailqueue sender resume relay"))
@click.argument("name")
@project_option
@json_option
def resume(*, name: str, project: str) -> None:
    """Resume a paused or suspended account."""
    print_outcome(lambda app: accounts.resume(app.conn, project, name=name))


@sender.command(
    epilog=examples("mailqueue sender fallback spare", "mailqueue sender fallback spare --off")
)
@click.argument("name")
@project_option
@click.option("--off", is_flag=True, help="Make the account a regular account again.")
@json_option
def fallback(*, name: str, project: str, off: bool) -> None:
    """Make an account a fallback: it is used only while no regular account may send."""
    print_outcome(
        lambda app: accounts.set_fallback(app.conn, project, name=name, is_fallback=not off),
    )


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


_LIMITS_WITH_NONE = ("daily_limit", "hourly_limit", "minute_limit", "rate_per_second", "burst")
"""Options to which None is a value: `none` was given."""


@sender.command(
    epilog=examples(
        "mailqueue sender limits relay --daily-limit 1000",
        "mailqueue sender limits relay --daily-limit none --rate-per-second 14",
        "mailqueue sender limits relay --hourly-limit 500 --minute-limit 30",
        "mailqueue sender limits relay --warm-up default",
        "mailqueue sender limits relay --warm-up 200x2,1000x3,5000x5",
    )
)
@click.argument("name")
@project_option
@click.option(
    "--daily-limit", callback=_or_none(int), metavar="N|none", help="Recipients per day, or `none`."
)
@click.option(
    "--hourly-limit",
    callback=_or_none(int),
    metavar="N|none",
    help="Recipients in any 60 minutes, or `none`.",
)
@click.option(
    "--minute-limit",
    callback=_or_none(int),
    metavar="N|none",
    help="Recipients in any 60 seconds, or `none`.",
)
@click.option(
    "--rate-per-second",
    callback=_or_none(float),
    metavar="N|none",
    help="Recipients per second, or `none`.",
)
@click.option(
    "--burst",
    callback=_or_none(int),
    metavar="N|none",
    help="Recipients that one second may have beyond the rate; `none`: one second of the rate.",
)
@click.option("--batch-size", type=int, help="Emails claimed at once.")
@click.option("--send-delay-ms", type=int, help="Milliseconds between two emails.")
@click.option("--max-connections", type=int, help="Maximum connections of one worker process.")
@click.option("--time-zone", help="Time zone of the daily limit, such as Europe/Berlin.")
@warm_up_option
@json_option
def limits(
    *,
    name: str,
    project: str,
    warm_up: tuple[int, ...] | Unchanged | None,
    **others: Any,
) -> None:
    """Change limits of an account. Limits not given stay as they are."""
    named = {
        field: given
        for field, given in others.items()
        if given is not None or field in _LIMITS_WITH_NONE
    }
    change = LimitsChange(warm_up=warm_up, **named)
    if change == LimitsChange():
        raise click.UsageError("give at least one limit to change, such as --daily-limit 1000")
    print_outcome(
        lambda app: accounts.set_limits(app.conn, project, name=name, change=change),
    )


def _end(text: str) -> datetime | timedelta:
    """Return when a pause ends, from a duration or a point in time (local time without a zone)."""
    try:
        return parse_duration(text)
    except ValueError:
        pass
    try:
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError):
        raise InvalidField(
            "until",
            f"must be a duration such as 2h or a point in time such as "
            f"2030-01-31T08:00+01:00, got {text!r}",
        ) from None


sender.add_command(add)
sender.add_command(test)
sender.add_command(health)
sender.add_command(prefer)
sender.add_command(remove)
sender.add_command(rates)
sender.add_command(webhook)
