"""Group commit: results of many tasks are written together, and kept until they are."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")


class GroupCommit(Generic[T]):
    """Writes what it is given in groups, in order; while one group is written the next collects.

    `write` must not return before the group is durable and must be safe to repeat. `written` is
    told of each group afterwards.
    """

    def __init__(
        self,
        write: Callable[[Sequence[T]], Awaitable[None]],
        *,
        written: Callable[[Sequence[T]], None],
        most: int = 200,
    ) -> None:
        self._write = write
        self._written = written
        self._most = most
        self._waiting: deque[T] = deque()
        self._has_work = asyncio.Event()
        self._is_idle = asyncio.Event()
        self._is_idle.set()

    def add(self, item: T) -> None:
        """Have the item written soon."""
        self._waiting.append(item)
        self._has_work.set()
        self._is_idle.clear()

    def __len__(self) -> int:
        return len(self._waiting)

    async def run(self) -> None:
        """Write until cancelled."""
        while True:
            await self._has_work.wait()
            group = [self._waiting.popleft() for _ in range(min(self._most, len(self._waiting)))]
            await self._write(group)
            self._written(group)
            if not self._waiting:
                self._has_work.clear()
                self._is_idle.set()

    async def drained(self) -> None:
        """Wait until everything that was added is written."""
        await self._is_idle.wait()
