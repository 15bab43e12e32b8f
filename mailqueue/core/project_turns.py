"""Work of projects in turn: few at a time in a process, and at most half of them of one project."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from uuid import UUID

from mailqueue.core.errors import TooManyRequests

MAX_WAITING = 4
"""Requests of one project that may wait for their turn; further ones are refused."""
RETRY_AFTER = timedelta(seconds=2)


class ProjectTurns:
    """Gives so many requests at a time their turn, to each project with waiting requests in turn.

    One project has at most half of the turns at the same time, and one at least.
    """

    def __init__(
        self, what: str, *, at_once: int = 1, max_waiting: int | None = MAX_WAITING
    ) -> None:
        """Prepare; `what` names the work in refusals; `max_waiting` None refuses no request."""
        self._what = what
        self._free = at_once
        self._most_of_one = max(1, at_once // 2)
        self._max_waiting = max_waiting
        self._taken: dict[UUID, int] = {}
        self._waiting: dict[UUID, deque[asyncio.Future[None]]] = {}  # in the order of their turns

    @asynccontextmanager
    async def turn(self, project_id: UUID) -> AsyncIterator[None]:
        """Wait for the turn of a request, and have it during the block.

        Raises:
            TooManyRequests: too many requests of the project wait already.
        """
        if self._may_begin(project_id):
            self._begin(project_id)
        else:
            await self._wait(project_id)
        try:
            yield
        finally:
            self._end(project_id)

    def _may_begin(self, project_id: UUID) -> bool:
        return self._free > 0 and self._taken.get(project_id, 0) < self._most_of_one

    def _begin(self, project_id: UUID) -> None:
        self._free -= 1
        self._taken[project_id] = self._taken.get(project_id, 0) + 1

    async def _wait(self, project_id: UUID) -> None:
        mine = self._waiting.setdefault(project_id, deque())
        if self._max_waiting is not None and len(mine) >= self._max_waiting:
            raise TooManyRequests(
                f"{self._max_waiting} requests of the project wait to {self._what}", RETRY_AFTER
            )
        turn = asyncio.get_running_loop().create_future()
        mine.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._forget(project_id, turn)
            else:  # it had its turn just now
                self._end(project_id)
            raise

    def _forget(self, project_id: UUID, turn: asyncio.Future[None]) -> None:
        mine = self._waiting.get(project_id)
        if mine is not None and turn in mine:
            mine.remove(turn)
            if not mine:
                del self._waiting[project_id]

    def _end(self, project_id: UUID) -> None:
        """End a turn, and begin that of the project that waits for the longest time."""
        self._free += 1
        self._taken[project_id] -= 1
        if not self._taken[project_id]:
            del self._taken[project_id]
        if (mine := self._waiting.pop(project_id, None)) is not None:
            self._waiting[project_id] = mine  # behind all others
        while (next_id := next(filter(self._may_begin, self._waiting), None)) is not None:
            waiting = self._waiting.pop(next_id)
            turn = waiting.popleft()
            if waiting:
                self._waiting[next_id] = waiting
            if not turn.done():
                self._begin(next_id)
                turn.set_result(None)
