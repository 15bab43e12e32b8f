"""Times in queries of Postmark's API: a day, or a time of Eastern Time, which Postmark uses."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import BeforeValidator

EASTERN = ZoneInfo("America/New_York")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True, slots=True)
class GivenTime:
    """A time; `is_day`: only its day was given, whose first moment it is."""

    at: datetime
    is_day: bool


def _read(given: Any) -> Any:
    if not isinstance(given, str):
        return given
    try:
        at = datetime.fromisoformat(given)
        at = (at if at.tzinfo else at.replace(tzinfo=EASTERN)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("must be a day or a time, such as 2030-01-31T08:00:00") from None
    return GivenTime(at, _DAY.fullmatch(given) is not None)


QueryTime = Annotated[GivenTime, BeforeValidator(_read)]


def last_of(given: GivenTime) -> datetime:
    """Return the last moment of a day, or the time itself. Pure."""
    if not given.is_day:
        return given.at
    try:
        tomorrow = given.at.astimezone(EASTERN).date() + timedelta(days=1)
    except OverflowError:
        return given.at
    first = datetime(tomorrow.year, tomorrow.month, tomorrow.day, tzinfo=EASTERN)
    return first.astimezone(UTC) - timedelta(microseconds=1)
