"""The option `--warm-up`: stages of a daily limit."""

import click

from mailqueue.senders.model import DEFAULT_WARM_UP, KEEP, Unchanged


def _stages(
    _ctx: click.Context, _option: click.Parameter, text: str | None
) -> tuple[int, ...] | Unchanged | None:
    """Return the stages; an option that is not given keeps the value."""
    if text is None:
        return KEEP
    match text.lower():
        case "none":
            return None
        case "default":
            return DEFAULT_WARM_UP
    try:
        return tuple(int(word) for word in text.split(","))
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is neither `default` nor `none` nor numbers such as 200,1000,5000"
        ) from None


warm_up_option = click.option(
    "--warm-up",
    callback=_stages,
    metavar="N,N,…|default|none",
    help="Recipients on the first day of sending, the second and so on; then the daily limit."
    "  [default: none; `default` is " + ",".join(map(str, DEFAULT_WARM_UP)) + "]",
)
