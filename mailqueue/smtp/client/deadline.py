"""A deadline for a whole conversation; moving it starts no new timer."""

import asyncio
from collections.abc import Callable


class Deadline:
    """Calls back when the deadline that was set last has passed.

    `shortest_s` is the shortest wait in seconds that may be set. The timer never sleeps longer, so
    that a deadline that was moved closer is met on time.
    """

    __slots__ = ("_at", "_late", "_loop", "_shortest_s", "_timer")

    def __init__(
        self, loop: asyncio.AbstractEventLoop, late: Callable[[], None], *, shortest_s: float
    ) -> None:
        self._loop = loop
        self._late = late
        self._shortest_s = shortest_s
        self._at = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def start(self, wait_s: float) -> None:
        """Start the timer; `set` may be called at any time afterwards."""
        self.set(wait_s)
        if self._timer is None:
            self._timer = self._loop.call_later(min(wait_s, self._shortest_s), self._look)

    def set(self, wait_s: float) -> None:
        """Move the deadline to `wait_s` seconds from now."""
        self._at = self._loop.time() + wait_s

    def stop(self) -> None:
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        self._timer = None
        left = self._at - self._loop.time()
        if left <= 0:
            self._late()
            left = self._at - self._loop.time()
        if left > 0:  # not due yet, or moved by the callback
            self._timer = self._loop.call_later(min(left, self._shortest_s), self._look)
