"""Outcomes of a claimed row, as values. A handler returns one; only the kernel writes row states.

`values` are columns of the row that are written with the state (`QueueSpec.columns`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Done:
    """The work is done. `status` None is the table's word for success."""

    status: str | None = None
    reason: str | None = None
    values: Values = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Retry:
    """Try again later and count this attempt; after the last one the row fails.

    `wait` None is the backoff of the queue.
    """

    reason: str
    wait: timedelta | None = None
    values: Values = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Defer:
    """Try again later without counting an attempt; `wait` None is at once, in its old place."""

    reason: str | None = None
    wait: timedelta | None = None
    values: Values = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Again:
    """Done for now: the row is due again at `at`, with its attempts at zero."""

    at: datetime
    values: Values = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Failed:
    """Not tried again, unless a person requeues it."""

    reason: str
    values: Values = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Unknown:
    """Perhaps done: the queue's policy decides between another attempt and a person."""

    detail: str
    values: Values = field(default_factory=dict)


Outcome = Done | Retry | Defer | Again | Failed | Unknown
OUTCOMES = (Done, Retry, Defer, Again, Failed, Unknown)
