"""Named places where tests make a process die, fail or freeze, to see what is left behind.

For tests only. A process started with MAILQUEUE_CRASH_POINT="POINT ACTION N" does ACTION when it
passes POINT for the N-th time; in any other `reach` does nothing. `docs/chaos.md` lists the points.
"""

import os
import signal
from collections.abc import Callable
from enum import StrEnum

VARIABLE = "MAILQUEUE_CRASH_POINT"


class Action(StrEnum):
    """What happens to the process."""

    KILL = "kill"  # as kill -9 does
    RAISE = "raise"  # an exception nobody expects
    STALL = "stall"  # as kill -STOP does: until somebody wakes it


class Crashed(Exception):
    """The exception nobody expects."""


class _Armed:
    """Counts the passings of one point. Mutable, and made in processes under test alone."""

    def __init__(self, words: str) -> None:
        point, action, passing = words.split(" ")
        self._point = point
        self._action = Action(action)
        self._left = int(passing)

    def reach(self, point: str) -> None:
        if point != self._point:
            return
        self._left -= 1
        if self._left != 0:
            return
        # Not by the log: it must be told before the process is gone.
        os.write(2, f"crash point {point}: {self._action}\n".encode())
        match self._action:
            case Action.KILL:
                os.kill(os.getpid(), signal.SIGKILL)
            case Action.STALL:
                os.kill(os.getpid(), signal.SIGSTOP)
            case Action.RAISE:
                raise Crashed(point)


def _pass(_point: str) -> None:
    """Go on."""


def reach_of(words: str | None) -> Callable[[str], None]:
    """Return what a process started with these words does at each point."""
    return _pass if words is None else _Armed(words).reach


reach = reach_of(os.environ.get(VARIABLE))
