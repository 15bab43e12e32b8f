"""What is sent now: attempts by time, and by sender account with the time its server took."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from mailqueue.contract.operations import AccountTraffic
from mailqueue.contract.value import Value


@dataclass(frozen=True, slots=True)
class AttemptsInSpan(Value):
    """How the attempts of a span of time ended."""

    since: datetime
    """Start of the span."""
    sent: int
    deferred: int
    bounced: int
    failed: int
    """With those whose outcome is unknown."""


@dataclass(frozen=True, slots=True)
class SendingActivity(Value):
    """Attempts to send of the last day, and the sender accounts that made the latest."""

    at: datetime
    """Time of the server when this was read, at most a few seconds ago."""
    is_complete: bool
    """Whether all of the last day was read; else the next request shows more."""
    accounts_since: datetime
    """Start of the span that `accounts` covers: at most an hour, less where much is sent."""
    accounts: Sequence[AccountTraffic]
    """Sender accounts with attempts, the slowest server first."""
    minutes: Sequence[AttemptsInSpan]
    """Each complete minute of the last hour that was read, oldest first."""
    ten_minutes: Sequence[AttemptsInSpan]
    """Each complete ten minutes of the last day that were read, oldest first."""
