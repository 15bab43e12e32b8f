"""Decides when an idle worker looks again: rung by NOTIFY while parked, else after a wait."""

import asyncio
from contextlib import suppress

from mailqueue.core.crashpoints import reach
from mailqueue.core.errors import Unavailable
from mailqueue.db.link import Link
from mailqueue.db.listen import Ear
from mailqueue.queue import store
from mailqueue.settings.environment import DatabaseSettings

POLL_SECONDS = 1.0
"""The longest wait: polling is the truth, the bell only makes it quick."""
DEAF_POLL_SECONDS = 0.05
"""The wait where nothing can ring: a transaction pooler stands in between."""
DEAF_RETRY_SECONDS = 5.0


class Doorbell:
    """Parks one worker at one queue. While nobody is parked, enqueueing rings nobody."""

    def __init__(self, settings: DatabaseSettings, link: Link, *, queue: str, worker: int) -> None:
        self._can_listen = settings.has_sessions
        self._ear = Ear(settings, f"mailqueue_{queue}")
        self._link = link
        self._queue = queue
        self._worker = worker
        self._rung = asyncio.Event()
        self.is_parked = False

    async def listen_forever(self) -> None:
        """Hear the bell until cancelled; where the server goes away, come back to it."""
        while self._can_listen:
            with suppress(Unavailable):
                async for _ in self._ear.rings():
                    self._rung.set()
            self._rung.set()  # whatever was missed meanwhile
            await asyncio.sleep(DEAF_RETRY_SECONDS)
        await asyncio.Event().wait()  # nothing can ring; to end would be to end the worker

    def ring(self) -> None:
        """Wake the waiting worker from inside the process."""
        self._rung.set()

    async def park(self) -> None:
        """Ask to be rung. Look once more before waiting: work may have come in between."""
        if self._can_listen and not self.is_parked:
            await self._link.call(lambda conn: store.park(conn, self._queue, self._worker))
            reach("park.committed")
        self.is_parked = True

    async def unpark(self) -> None:
        """Do not be rung: there is enough to do."""
        if self._can_listen and self.is_parked:
            await self._link.call(lambda conn: store.unpark(conn, self._queue, self._worker))
        self.is_parked = False

    async def wait(self, longest: float | None) -> None:
        """Wait for the bell, at most `longest` seconds (None: as long as polling allows)."""
        limit = POLL_SECONDS if self._ear.is_listening else DEAF_POLL_SECONDS
        seconds = limit if longest is None else max(0.0, min(limit, longest))
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):  # not wait_for, which may swallow a cancel
                await self._rung.wait()
        self._rung.clear()
