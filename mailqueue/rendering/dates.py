"""Format times and days by strftime or Go patterns. Pure."""

import re
from datetime import UTC, date, datetime

from mailqueue.rendering.faults import TemplateFault

_MOST = 200
_ALLOWED = frozenset("aAbBdeHIjmMpSyYzZ%FTD-")
# Go's patterns are the reference time Mon Jan 2 15:04:05 MST 2006; the longer words first.
_GO = {
    "January": "%B",
    "Monday": "%A",
    "2006": "%Y",
    "-0700": "%z",
    "Jan": "%b",
    "Mon": "%a",
    "MST": "%Z",
    "15": "%H",
    "01": "%m",
    "02": "%d",
    "03": "%I",
    "04": "%M",
    "05": "%S",
    "06": "%y",
    "PM": "%p",
    "1": "%-m",
    "2": "%-d",
    "3": "%-I",
}
_GO_WORD = re.compile("|".join(map(re.escape, _GO)))
_DIRECTIVE = re.compile(r"%(-?)(.?)", re.DOTALL)


def format_date(value: str | float | datetime | date, pattern: str) -> str:
    """Return a time as text, given as ISO 8601 or as seconds since 1970.

    Raises:
        TemplateFault: the value is not a time, or the pattern has an unknown directive.
    """
    if len(pattern) > _MOST:
        raise TemplateFault(f"a pattern of a date may have {_MOST} characters")
    at = _instant(value)
    if "%" not in pattern:
        pattern = _GO_WORD.sub(lambda found: _GO[found[0]], pattern)

    def written(match: re.Match[str]) -> str:
        if match[2] not in _ALLOWED or not match[2]:
            raise TemplateFault(f"{match[0]} is not a date directive")
        text = at.strftime(f"%{match[2]}")
        return text.lstrip("0 ") or "0" if match[1] else text

    return _DIRECTIVE.sub(written, pattern)


def _instant(value: str | float | datetime | date) -> datetime:
    try:
        match value:
            case datetime():
                return value
            case date():
                return datetime(value.year, value.month, value.day, tzinfo=UTC)
            case str():
                return datetime.fromisoformat(value.strip()[:64])
            case _:
                return datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        raise TemplateFault("a date is written like 2030-05-01 or 2030-05-01T08:00:00Z") from None
