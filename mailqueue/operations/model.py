"""Values for operators: the queue, single mails, the books, findings of checks."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

PRIORITIES = ("critical", "high", "normal", "low")
BLOCKED_WORDS: Mapping[str, str] = {
    "no_sender": "no sender account",
    "daily_limit": "daily limit used up",
    "hourly_limit": "hourly limit used up",
    "minute_limit": "minute limit used up",
    "rate": "rate used up",
    "outside_window": "low priority outside its window",
    "unreachable": "waiting for its server",
    "limited": "limited by its provider",
    "circuit": "circuit open",
    "half_open": "circuit half open",
}
"""Texts of the reasons for which a lane or account is blocked."""


class CheckState(StrEnum):
    """Result of a check: a warning needs attention if it stays, an alarm needs action now."""

    OK = "ok"
    WARNING = "warning"
    ALARM = "alarm"


@dataclass(frozen=True, slots=True)
class Finding:
    """Finding of one check."""

    check: str
    is_ok: bool
    says: str
    fix: str | None = None  # None when nothing is to be done
    state: CheckState = CheckState.OK


@dataclass(frozen=True, slots=True)
class BulkOperation:
    """An operation on all matching mail: the verb, the filter, and the verb's argument."""

    verb: str  # hold, release, cancel, requeue, move, resend, reprioritise
    where: Mapping[str, str]  # as SQL's filters take it
    argument: Mapping[str, str]  # reason, priority, to


@dataclass(frozen=True, slots=True)
class StoppedEmails:
    """Queued emails that a pause would stop."""

    emails: int
    is_more: bool
    """Whether more emails are queued than were counted."""
