"""The options every command that queues mail has, and the words SQL's enqueue() takes for them."""

import functools
import json
from collections.abc import Callable
from typing import Any

import click

# Values are handed over as they are: what is allowed is decided, and refused, in one place.
_OPTIONS = (
    click.option("--project", default="default", show_default=True, help="The project it is of."),
    click.option("--sender", help="The sender account to use, by its name."),
    click.option("--from", "from_email", metavar="ADDRESS", help="From: an address or Name <…>."),
    click.option("--reply-to", metavar="ADDRESS", help="Where answers go."),
    click.option(
        "--header",
        "headers",
        multiple=True,
        metavar="NAME:VALUE",
        callback=lambda _ctx, _param, given: _headers(given),
        help="A further header; may be repeated.",
    ),
    click.option("--priority", metavar="WORD", help="critical, high, normal or low."),
    click.option("--category", metavar="WORD", help="transactional, marketing, or your own."),
    click.option("--tag", "tags", multiple=True, help="May be repeated."),
    click.option("--campaign-id", help="Groups mail for reports."),
    click.option("--run-at", metavar="INSTANT", help="Not before; like '2030-05-01 08:00+02'."),
    click.option("--expires-at", metavar="INSTANT", help="Give up then; 4 days unless given."),
    click.option(
        "--custom-data",
        metavar="JSON",
        callback=lambda _ctx, _param, given: _json(given),
        help="Kept with the mail.",
    ),
    click.option("--max-attempts", type=int, metavar="N", help="1 to 1000."),
    click.option("--track-opens/--no-track-opens", default=None, help="Tell when it is opened."),
    click.option("--track-clicks/--no-track-clicks", default=None, help="Count links followed."),
    click.option(
        "--unsubscribe/--no-unsubscribe",
        default=None,
        help="Have a way to unsubscribe; marketing has one unless told otherwise.",
    ),
    click.option(
        "--delivery",
        metavar="WORD",
        help="When nobody knows whether it arrived: resend once, or hold for a person.",
    ),
)
_NAMES = (
    "sender",
    "from_email",
    "reply_to",
    "headers",
    "priority",
    "category",
    "tags",
    "campaign_id",
    "run_at",
    "expires_at",
    "custom_data",
    "max_attempts",
    "delivery",
    "track_opens",
    "track_clicks",
    "unsubscribe",
)


def mail_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add them; the command gets `project` and, for all others that were given, `options`."""

    @functools.wraps(command)
    def packed(*args: Any, **given: Any) -> Any:
        taken = {name: given.pop(name) for name in _NAMES}
        return command(*args, options=given_only(taken), **given)

    wrapped: Callable[..., Any] = packed
    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped


def given_only(options: dict[str, Any]) -> dict[str, object]:
    """Leave out what was not given; lists as JSON has them."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in options.items()
        if value is not None and value not in ((), {})
    }


def _headers(given: tuple[str, ...]) -> dict[str, str]:
    headers = {}
    for text in given:
        name, colon, value = text.partition(":")
        if not colon:
            raise click.BadParameter(f"write NAME:VALUE, got {text!r}")
        if name in headers:
            raise click.BadParameter(f"{name} is given twice")
        headers[name] = value.strip(" \t")
    return headers


def _json(given: str | None) -> object:
    if given is None:
        return None
    try:
        return json.loads(given)
    except (ValueError, RecursionError) as exc:
        raise click.BadParameter(f"this is not JSON: {exc}") from None
