"""The banner of every page while all sending is paused."""

import time

from mailqueue.contract.operations import Pause
from mailqueue.db.fetch import Lend
from mailqueue.operations import platform

READ_SECONDS = 2.0
"""Age in seconds up to which the pause is shown again without reading."""


class PauseBanner:
    """The pause of all sending, read once for all pages that a process shows in a moment."""

    def __init__(self) -> None:
        self._pause: Pause | None = None
        self._read_at = float("-inf")

    async def current(self, lend: Lend) -> Pause | None:
        """Return the pause; None: there is none."""
        if time.monotonic() - self._read_at >= READ_SECONDS:
            async with lend() as conn:
                self._pause = await platform.current_pause(conn)
            self._read_at = time.monotonic()
        return self._pause

    def forget(self) -> None:
        """Read again for the next page, because the pause was changed."""
        self._read_at = float("-inf")
