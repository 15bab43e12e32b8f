"""Values for operators: the queue, single mails, the books, findings of checks."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

PRIORITIES = ("critical", "high", "normal", "low")


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
    fix: str | None = None  # None when nothing is wrong
    state: CheckState = CheckState.OK


@dataclass(frozen=True, slots=True)
class BulkOperation:
    """An operation on all matching mail: the verb, the filter, and the verb's argument."""

    verb: str  # hold, release, cancel, requeue, resend, reprioritise
    where: Mapping[str, str]  # as SQL's filters take it
    argument: Mapping[str, str]  # reason, priority
