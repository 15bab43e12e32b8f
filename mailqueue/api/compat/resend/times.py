"""Parse `scheduled_at` of Resend's API. Pure.

A time in ISO 8601, in UTC without an offset, or a duration from now in English: `in 1 min`, `in 2
hours`. Other phrases that Resend accepts are refused, because a wrong guess would send at a wrong
time.
"""

import re
from datetime import UTC, datetime, timedelta

from mailqueue.core.errors import InvalidField

FIELD = "scheduled_at"
FURTHEST = timedelta(days=30)
_WHILE = re.compile(r"in\s+(an?|one|[0-9]{1,7})\s*([a-z]+)", re.IGNORECASE)
_SECONDS = {"s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60}
_SECONDS |= {"h": 3600, "hr": 3600, "hour": 3600, "d": 86_400, "day": 86_400, "week": 604_800}


def instant_of(text: str, now: datetime) -> datetime:
    """Return the time that a text names.

    Raises:
        InvalidField: the format is unknown, or the time is more than 30 days ahead.
    """
    at = _after_a_while(text.strip(), now) or _iso(text.strip())
    if at is None:
        why = "must be a time in ISO 8601, or `in 1 min`, `in 2 hours`, `in 3 days`"
        raise InvalidField(FIELD, f"{why}; got {text[:100]!r}")
    if at > now + FURTHEST:
        raise InvalidField(FIELD, "email can be scheduled up to 30 days in advance")
    return at


def _after_a_while(text: str, now: datetime) -> datetime | None:
    found = _WHILE.fullmatch(text)
    if found is None:
        return None
    unit = found[2].lower()
    seconds = _SECONDS.get(unit) or _SECONDS.get(unit.removesuffix("s"))
    if seconds is None:
        return None
    return now + timedelta(seconds=seconds * (int(found[1]) if found[1].isdigit() else 1))


def _iso(text: str) -> datetime | None:
    try:
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo is not None else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
