"""Wakes an idle worker: by NOTIFY while it is parked, else by polling."""

import asyncio
from contextlib import suppress

from mailqueue.core.crashpoints import reach
from mailqueue.core.errors import Unavailable
from mailqueue.db.link import Link
from mailqueue.db.listen import NotificationListener
from mailqueue.queue import store
from mailqueue.settings.environment import DatabaseSettings

POLL_SECONDS = 1.0
"""Poll interval while NOTIFY works; polling alone is correct, NOTIFY makes it fast."""
POLL_WITHOUT_NOTIFY_SECONDS = 0.05
"""Poll interval while NOTIFY does not arrive, for example behind a transaction pooler."""
LISTEN_RETRY_SECONDS = 5.0


class Wakeup:
    """Parks one worker at one queue. Enqueueing sends NOTIFY only while a worker is parked."""

    def __init__(self, settings: DatabaseSettings, link: Link, *, queue: str, worker: int) -> None:
        self._can_listen = settings.has_sessions
        self._listener = NotificationListener(settings, f"mailqueue_{queue}")
        self._link = link
        self._queue = queue
        self._worker = worker
        self._woken = asyncio.Event()
        self.is_parked = False

    async def listen_forever(self) -> None:
        """Receive notifications until cancelled; reconnect when the server was unavailable."""
        while self._can_listen:
            with suppress(Unavailable):
                async for _ in self._listener.rings():
                    self._woken.set()
            self._woken.set()  # a notification may have been missed
            await asyncio.sleep(LISTEN_RETRY_SECONDS)
        await asyncio.Event().wait()  # no NOTIFY; returning would end the worker

    def wake(self) -> None:
        """Wake the waiting worker from inside the process."""
        self._woken.set()

    async def park(self) -> None:
        """Ask for notifications. Claim once more before waiting: work may have come in between."""
        if self._can_listen and not self.is_parked:
            await self._link.call(lambda conn: store.park(conn, self._queue, self._worker))
            reach("park.committed")
        self.is_parked = True

    async def unpark(self) -> None:
        """Ask for no more notifications."""
        if self._can_listen and self.is_parked:
            await self._link.call(lambda conn: store.unpark(conn, self._queue, self._worker))
        self.is_parked = False

    async def wait(self, longest: float | None) -> None:
        """Wait to be woken, at most `longest` seconds (None: the poll interval)."""
        limit = POLL_SECONDS if self._listener.is_listening else POLL_WITHOUT_NOTIFY_SECONDS
        seconds = limit if longest is None else max(0.0, min(limit, longest))
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):  # not wait_for, which may swallow a cancel
                await self._woken.wait()
        self._woken.clear()
