"""What a handler says about a claimed row. Only the queue turns these into row states."""

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class Done:
    """The work is done; the row leaves the queue with the table's word for success."""


@dataclass(frozen=True, slots=True)
class Retry:
    """Try again later and count this attempt; `wait` None follows the row's backoff."""

    reason: str
    wait: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Defer:
    """Put back without counting an attempt; `until` None means at once, in its old place."""

    reason: str
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Again:
    """Done for now; the same row is due again at `at`, with its attempts at zero."""

    at: datetime


@dataclass(frozen=True, slots=True)
class Failed:
    """Will not be tried again; a person may requeue it."""

    reason: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """Handed over, no verdict: the row's policy decides between one resend and being held."""

    detail: str


Outcome = Done | Retry | Defer | Again | Failed | Unknown
