"""Work of projects in turn: one at a time in a process, and few that wait for each project."""

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
    """Gives one request at a time its turn, to each project with waiting requests in turn."""

    def __init__(self, what: str) -> None:
        """Prepare; `what` names the work in refusals."""
        self._what = what
        self._waiting: dict[UUID, deque[asyncio.Future[None]]] = {}  # in the order of their turns
        self._is_taken = False

    @asynccontextmanager
    async def turn(self, project_id: UUID) -> AsyncIterator[None]:
        """Wait for the turn of a request, and have it during the block.

        Raises:
            TooManyRequests: too many requests of the project wait already.
        """
        if self._is_taken:
            await self._wait(project_id)
        self._is_taken = True
        try:
            yield
        finally:
            self._pass_on()

    async def _wait(self, project_id: UUID) -> None:
        mine = self._waiting.setdefault(project_id, deque())
        if len(mine) >= MAX_WAITING:
            raise TooManyRequests(
                f"{MAX_WAITING} requests of the project wait to {self._what}", RETRY_AFTER
            )
        turn = asyncio.get_running_loop().create_future()
        mine.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._forget(project_id, turn)
            else:  # it had its turn just now
                self._pass_on()
            raise

    def _forget(self, project_id: UUID, turn: asyncio.Future[None]) -> None:
        mine = self._waiting.get(project_id)
        if mine is not None and turn in mine:
            mine.remove(turn)
            if not mine:
                del self._waiting[project_id]

    def _pass_on(self) -> None:
        """End a turn, and begin that of the project that waits for the longest time."""
        while self._waiting:
            project_id = next(iter(self._waiting))
            waiting = self._waiting.pop(project_id)
            turn = waiting.popleft()
            if waiting:
                self._waiting[project_id] = waiting  # behind all others
            if not turn.done():
                turn.set_result(None)
                return
        self._is_taken = False
