"""Outcomes of a claimed row, as values. A handler returns one; only the kernel writes row states.

`values` are columns of the row that are written with the state (`QueueSpec.columns`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Done:
    """The row was handled. `status` None is the table's state for success."""

    status: str | None = None
    reason: str | None = None
    values: Values = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Retry:
    """Try again later and count this attempt; after the last one the row fails.

    `wait` None is the queue's backoff.
    """

    reason: str
    wait: timedelta | None = None
    values: Values = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Defer:
    """Retry later without counting an attempt; `wait` None is at once, in its previous place."""

    reason: str | None = None
    wait: timedelta | None = None
    values: Values = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Again:
    """The row was handled; it is due again at `at` or after `wait`, its attempts reset to zero."""

    wait: timedelta | None = None
    at: datetime | None = None
    values: Values = field(default_factory=dict)
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The row failed and is not retried; it can be requeued by hand."""

    reason: str
    values: Values = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Unknown:
    """The outcome is unknown: the queue's policy decides between a retry and holding the row."""

    reason: str
    values: Values = field(default_factory=dict)


Outcome = Done | Retry | Defer | Again | Failed | Unknown
OUTCOMES = (Done, Retry, Defer, Again, Failed, Unknown)


class OnUnknown(StrEnum):
    """What becomes of a row when it is unknown whether its effect has happened."""

    RETRY = "retry"  # the effect may happen twice
    HELD = "held"  # a person decides


@dataclass(frozen=True, slots=True)
class Backoff:
    """Wait before a retry: `first`, doubled with each attempt, at most `longest`."""

    first: timedelta
    longest: timedelta
