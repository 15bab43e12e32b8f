"""The option `--warm-up`: a daily limit that rises with each day of sending."""

from collections.abc import Sequence
from itertools import groupby

import click

from mailqueue.senders.model import DEFAULT_WARM_UP, KEEP, Unchanged


def _days(
    _ctx: click.Context, _option: click.Parameter, text: str | None
) -> tuple[int, ...] | Unchanged | None:
    """Return the limit of each day; an option that is not given keeps the value."""
    if text is None:
        return KEEP
    match text.lower():
        case "none":
            return None
        case "default":
            return DEFAULT_WARM_UP
    try:
        return tuple(limit for word in text.split(",") for limit in _range_of(word))
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is neither `default` nor `none` nor limits such as 200x2,1000x3,5000"
        ) from None


def _range_of(word: str) -> list[int]:
    limit, _, days = word.partition("x")
    count = int(days) if days else 1
    if not 1 <= count <= 100:
        raise ValueError(word)
    return [int(limit)] * count


def ranges_of(days: Sequence[int]) -> str:
    """Return limits by day as the option takes them, such as `200x2,1000x3`."""
    lengths = [(limit, len(list(same))) for limit, same in groupby(days)]
    return ",".join(f"{limit}x{count}" if count > 1 else str(limit) for limit, count in lengths)


warm_up_option = click.option(
    "--warm-up",
    callback=_days,
    metavar="N[xDAYS],…|default|none",
    help="Recipients on each of the first days of sending, such as 200x2 for two days; then the "
    f"daily limit.  [default: none; `default` is {ranges_of(DEFAULT_WARM_UP)}]",
)
