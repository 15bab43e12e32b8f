"""Decides how long a mail waits before its next attempt. Pure."""

from datetime import timedelta

LADDER = (
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=15),
    timedelta(minutes=60),
)
"""Waits after the first, second, ... attempt; the last one repeats."""

JITTER = 0.2
"""Share of the wait that chance may add or take: mails refused together do not return together."""


def next_wait(attempt: int, chance: float, *, ladder: tuple[timedelta, ...] = LADDER) -> timedelta:
    """Give the wait after `attempt` (from 1); `chance` is from 0 to 1.

    Raises:
        ValueError: if `attempt` is below 1.
    """
    if attempt < 1:
        raise ValueError(f"attempt must be at least 1, got {attempt}")
    wait = ladder[min(attempt, len(ladder)) - 1]
    return wait * (1 + JITTER * (2 * chance - 1))
