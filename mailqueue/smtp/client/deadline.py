"""One timer for a whole conversation: moving the deadline costs an addition, not a timer."""

import asyncio
from collections.abc import Callable


class Deadline:
    """Calls back when the time that was set last has run out.

    `shortest_s` is the shortest wait that will ever be set. The timer never sleeps longer than
    that, so a deadline moved closer is still met on time.
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
        """Begin to watch; `set` may be called at any time from now on."""
        self.set(wait_s)
        if self._timer is None:
            self._timer = self._loop.call_later(min(wait_s, self._shortest_s), self._look)

    def set(self, wait_s: float) -> None:
        """Move the deadline to `wait_s` seconds from now."""
        self._at = self._loop.time() + wait_s

    def stop(self) -> None:
        """Stop watching."""
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
