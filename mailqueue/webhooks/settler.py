"""Settles deliveries, many in one commit."""

import asyncio
from collections import deque
from collections.abc import Callable, Collection
from contextlib import suppress
from uuid import UUID

from mailqueue.core.crashpoints import reach
from mailqueue.db.link import Link
from mailqueue.telemetry.log import get_logger
from mailqueue.webhooks.model import SettledDelivery
from mailqueue.webhooks.store import deliveries as deliveries_store

MAX_GROUP = 500
LINGER_SECONDS = 0.02
"""How long an outcome waits for others to share its commit."""

log = get_logger(__name__)


class DeliverySettler:
    """Settles the deliveries of one worker; calls `blocked` with endpoints whose circuit opened."""

    def __init__(self, link: Link, *, blocked: Callable[[Collection[UUID]], None]) -> None:
        self._link = link
        self._blocked = blocked
        self._done: deque[SettledDelivery] = deque()
        self.written = 0  # outcomes so far
        self._writing = 0
        self._is_due = asyncio.Event()
        self._is_full = asyncio.Event()
        self._is_idle = asyncio.Event()
        self._is_idle.set()

    def __len__(self) -> int:
        return len(self._done)

    def settle(self, done: SettledDelivery) -> int:
        """Queue an outcome; it is durable once `written` has reached the number returned."""
        self._done.append(done)
        self._is_idle.clear()
        self._is_due.set()
        if len(self._done) >= MAX_GROUP:
            self._is_full.set()
        return self.written + self._writing + len(self._done)

    async def drained(self) -> None:
        """Wait until every outcome is written."""
        await self._is_idle.wait()

    async def run(self) -> None:
        """Write until cancelled."""
        while True:
            await self._is_due.wait()
            with suppress(TimeoutError):
                async with asyncio.timeout(LINGER_SECONDS):
                    await self._is_full.wait()
            await self._write()

    async def _write(self) -> None:
        group = [self._done.popleft() for _ in range(min(MAX_GROUP, len(self._done)))]
        if len(self._done) < MAX_GROUP:
            self._is_full.clear()
        if not self._done:
            self._is_due.clear()
        self._writing = len(group)
        reach("webhooks.settling")
        notices = await self._link.call(lambda conn: deliveries_store.settle(conn, group))
        reach("webhooks.settled")
        self.written += len(group)
        self._writing = 0
        lost = sum(one.webhook_id is None for one in notices)
        if lost:
            log.warning("deliveries.refused", count=lost, reason="the claims had moved on")
        self._blocked({one.webhook_id for one in notices if one.webhook_id is not None})
        if not self._done:
            self._is_idle.set()
