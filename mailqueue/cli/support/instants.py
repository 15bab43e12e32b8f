"""Points in time on the command line: timestamps, ages such as `2d`, and the end of a pause."""

import functools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from mailqueue.core.errors import InvalidField
from mailqueue.core.units import parse_duration

EXAMPLE = "2030-05-01T08:00:00+02:00"


class PastInstant(click.ParamType[datetime]):
    """A point in time: RFC 3339 with an offset, or how long ago it was, such as `4h`."""

    name = "instant"

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> datetime:
        """Return the point in time; report a usage error for other text."""
        if isinstance(value, datetime):
            return value
        try:
            return datetime.now(UTC) - parse_duration(value)
        except (ValueError, OverflowError):
            pass
        at = instant_of(value)
        if at is None:
            self.fail(
                f"must be an age such as 4h or 2d, or a timestamp such as {EXAMPLE}, got {value!r}",
                param,
                ctx,
            )
        return at


def instant_of(text: str) -> datetime | None:
    """Return an RFC 3339 timestamp with an offset; None for other text."""
    try:
        at = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        return None
    # Digits alone are a date to Python, and anything without an offset depends on the machine.
    return at if at.tzinfo is not None and "-" in text[:10] else None


def end_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--for` and `--until`; the command receives one of them as `until`, or None."""

    @functools.wraps(command)
    def packed(*args: Any, lasts: str | None, until: str | None, **options: Any) -> Any:
        if lasts is not None and until is not None:
            raise click.UsageError("give --for or --until, not both")
        end = _duration(lasts) if until is None else _end(until)
        return command(*args, until=end, **options)

    until_option = click.option(
        "--until",
        metavar="TIME",
        help="End of the pause: a point in time, such as 2030-01-31T08:00+01:00.",
    )
    for_option = click.option(
        "--for",
        "lasts",
        metavar="DURATION",
        help="Duration of the pause, such as 30min, 2h or 3d.  [default: no end]",
    )
    return for_option(until_option(packed))


def _duration(text: str | None) -> timedelta | None:
    try:
        return None if text is None else parse_duration(text)
    except ValueError as exc:
        raise InvalidField("for", str(exc)) from None


def _end(text: str) -> datetime | timedelta:
    """Return a duration, which `--until` takes too, or a point in time (local without a zone)."""
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
