"""Points in time on the command line: a timestamp with an offset, or an age such as `2d`."""

from datetime import UTC, datetime
from typing import Any

import click

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
