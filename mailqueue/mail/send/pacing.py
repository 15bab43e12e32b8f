"""Holds claimed emails for which a rate is kept until each is to be sent."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from heapq import heappop, heappush
from itertools import count
from uuid import UUID

from mailqueue.mail.model import LoadedEmail

CLOCK_SAMPLES = 30
"""Claims whose answers tell how this process's clock differs from the database's."""

Release = Callable[[Sequence[LoadedEmail]], Awaitable[None]]


class Pacing:
    """Emails that were claimed ahead of their rate, in the order in which they are to be sent.

    A claim takes what a rate gives in the next moments at once; sent at once, it would be a burst.
    """

    def __init__(self, release: Release) -> None:
        self._release = release
        self.held: list[tuple[float, int, LoadedEmail]] = []  # a heap, by time
        self._numbers = count()  # emails of one instant keep their order
        self._differences: deque[float] = deque(maxlen=CLOCK_SAMPLES)
        self._is_earlier = asyncio.Event()
        self._lock = asyncio.Lock()  # held while emails are released

    def hold(
        self, mails: Sequence[LoadedEmail], send_at: Mapping[UUID, float], *, claimed_at: float
    ) -> list[LoadedEmail]:
        """Keep the emails that are to be sent at a time, and return the others.

        The times are the database's, `claimed_at` being one that has just passed.
        """
        # The answers of some claims take longer than those of others: the smallest difference of
        # the clocks is the truest.
        self._differences.append(asyncio.get_running_loop().time() - claimed_at)
        difference, at_once = min(self._differences), []
        for mail in mails:
            at = send_at.get(mail.claim.id)
            if at is None:
                at_once.append(mail)
            else:
                heappush(self.held, (at + difference, next(self._numbers), mail))
        self._is_earlier.set()
        return at_once

    async def release_forever(self) -> None:
        """Release each email when its time has come, until cancelled."""
        now = asyncio.get_running_loop().time
        while True:
            await self._wait()
            async with self._lock:
                due = []
                while self.held and self.held[0][0] <= now():
                    due.append(heappop(self.held)[2])
                if due:
                    await self._release(due)

    async def _wait(self) -> None:
        self._is_earlier.clear()
        until = self.held[0][0] if self.held else None
        with suppress(TimeoutError):
            async with asyncio.timeout_at(until):
                await self._is_earlier.wait()

    async def take_all(self) -> list[LoadedEmail]:
        """Return the emails that are still held; none of them is released any more."""
        async with self._lock:
            held, self.held = self.held, []
        return [mail for _, _, mail in held]
