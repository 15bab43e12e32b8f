"""Parses durations, rates and sizes: `30s`, `5/min`, `4MiB`. Pure."""

import re
from datetime import timedelta

_SECONDS_BY_UNIT = {
    "ms": 0.001,
    "s": 1,
    "m": 60,
    "min": 60,
    "h": 3600,
    "d": 86400,
}
_BYTES_BY_UNIT = {
    "": 1,
    "b": 1,
    "kb": 1000,
    "mb": 1000**2,
    "gb": 1000**3,
    "kib": 1024,
    "mib": 1024**2,
    "gib": 1024**3,
}
MAX_DURATION = timedelta(days=36_525)
"""Largest duration, about a hundred years: dates beyond cannot be represented."""

_QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)")


def parse_duration(text: str) -> timedelta:
    """Parse a duration such as `250ms`, `30s`, `15min`, `4h` or `2d`.

    Raises:
        ValueError: it is anything else, also a number without a unit.
    """
    number, unit = _split(text)
    if unit not in _SECONDS_BY_UNIT:
        raise ValueError(f"must be a duration such as 250ms, 30s, 15min, 4h or 2d, got {text!r}")
    seconds = number * _SECONDS_BY_UNIT[unit]
    if seconds > MAX_DURATION.total_seconds():
        raise ValueError(f"must be at most {MAX_DURATION.days}d, got {text[:100]!r}")
    return timedelta(seconds=seconds)


def parse_rate(text: str) -> float:
    """Parse a rate such as `5/s`, `300/min` or `1000/h`; return it per second.

    Raises:
        ValueError: it is anything else, also a number without a unit.
    """
    count, _, unit = text.partition("/")
    found = _QUANTITY.fullmatch(count.strip())
    if found is None or found[2] or unit.strip().lower() not in ("s", "m", "min", "h", "d"):
        raise ValueError(f"must be a rate such as 5/s, 300/min or 1000/h, got {text!r}")
    return float(found[1]) / _SECONDS_BY_UNIT[unit.strip().lower()]


def parse_bytes(text: str) -> int:
    """Parse a size such as `4MiB`, `500kB` or a number of bytes.

    Raises:
        ValueError: it is anything else.
    """
    number, unit = _split(text)
    if unit not in _BYTES_BY_UNIT:
        raise ValueError(f"must be a size such as 4MiB, 500kB or 1048576, got {text!r}")
    return int(number * _BYTES_BY_UNIT[unit])


def _split(text: str) -> tuple[float, str]:
    found = _QUANTITY.fullmatch(text.strip())
    # An invalid unit, so that the caller raises the error.
    return (float(found[1]), found[2].lower()) if found else (0.0, "?")
