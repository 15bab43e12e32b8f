"""Times of cron expressions on a clock without a time zone. The only user of croniter.

Instants are made of them by the functions of SQL that know the rules of zones.
"""

from collections.abc import Callable
from datetime import datetime

from croniter import CroniterBadDateError, CroniterError, croniter

from mailqueue.core.errors import InvalidField

MAX_CHARACTERS = 200
"""Maximum length of an expression."""
MAX_YEARS = 50
"""Years without a match after which an expression has no further time."""
MAX_TIMES = 600
"""Times of an expression that are computed at once at most."""
_WORDS = {"@annually": "@yearly"}


def times_after(cron: str, after: datetime, count: int) -> list[datetime]:
    """Return the next `count` times after one, fewer if there are no more. Pure.

    Raises:
        InvalidField: it is not a cron expression.
    """
    iterator = _iterator(cron, after)
    return _collected(lambda: iterator.get_next(datetime), count)


def times_before(cron: str, before: datetime, count: int) -> list[datetime]:
    """Return the last `count` times before one, latest first. Pure.

    Raises:
        InvalidField: it is not a cron expression.
    """
    iterator = _iterator(cron, before)
    return _collected(lambda: iterator.get_prev(datetime), count)


def is_interval(cron: str) -> bool:
    """Return whether its minutes or hours are an interval, such as `*/15`, not fixed times. Pure.

    When a clock is set back, intervals run through the hour that comes twice.
    """
    word = cron.strip().lower()
    if word.startswith("@"):
        return word == "@hourly"
    minute, hour = word.split()[:2]
    return minute.startswith("*") or hour.startswith("*")


def _iterator(cron: str, start: datetime) -> croniter:
    try:
        return croniter(_known(cron), start, max_years_between_matches=MAX_YEARS)
    except CroniterError as exc:
        raise InvalidField("cron_expression", str(exc)) from exc


def _known(cron: str) -> str:
    """Return the expression in the words of croniter: the last Friday is L5 there, not 5L."""
    word = cron.strip().lower()
    if word.startswith("@"):
        return _WORDS.get(word, word)
    *others, days = word.split()
    parts = [f"L{one[0]}" if len(one) == 2 and one[1] == "l" else one for one in days.split(",")]
    return " ".join([*others, ",".join(parts)])


def _collected(step: Callable[[], datetime], count: int) -> list[datetime]:
    found: list[datetime] = []
    try:
        for _ in range(min(count, MAX_TIMES)):
            found.append(step())
    except (CroniterBadDateError, OverflowError):
        pass  # no further time
    return found
