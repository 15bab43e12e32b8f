"""Named points at which tests make a process die, raise or freeze, to test recovery.

For tests only. A process started with MAILQUEUE_CRASH_POINT="POINT ACTION N" does ACTION when it
reaches POINT for the N-th time; in any other process `reach` does nothing. `docs/chaos.md` lists
the points.
"""

import os
import signal
from collections.abc import Callable
from enum import StrEnum

VARIABLE = "MAILQUEUE_CRASH_POINT"


class Action(StrEnum):
    """The action at a crash point."""

    KILL = "kill"  # like kill -9
    RAISE = "raise"  # an unexpected exception
    STALL = "stall"  # like kill -STOP, until SIGCONT


class Crashed(Exception):
    """The exception raised by Action.RAISE."""


class _Armed:
    """Counts how often one point is reached. Mutable; only in processes under test."""

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
        # Written directly, not logged: the process may end before the log is flushed.
        os.write(2, f"crash point {point}: {self._action}\n".encode())
        match self._action:
            case Action.KILL:
                os.kill(os.getpid(), signal.SIGKILL)
            case Action.STALL:
                os.kill(os.getpid(), signal.SIGSTOP)
            case Action.RAISE:
                raise Crashed(point)


def _pass(_point: str) -> None:
    """Continue without an action."""


def reach_of(words: str | None) -> Callable[[str], None]:
    """Return the function that a process with this setting calls at each point."""
    return _pass if words is None else _Armed(words).reach


reach = reach_of(os.environ.get(VARIABLE))
