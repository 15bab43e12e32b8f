"""Limits of what requests of one project hold of a process: how many of them, and connections.

The rate limits count how often a project asks. Requests that take long, or whose bodies or
responses are sent slowly, are counted here for as long as they last.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from uuid import UUID
from weakref import WeakValueDictionary

from starlette.types import Scope

from mailqueue.core.errors import TooManyRequests

CONNECTION_SECONDS = 10.0
"""Seconds for which a request waits for a connection while others of its project have theirs."""
RETRY_AFTER = timedelta(seconds=1)
_SCOPE = "mailqueue.in_flight"


class RequestsInFlight:
    """The requests of each project that one process answers, and the connections they use."""

    def __init__(self, *, requests: int, pool_size: int) -> None:
        """Prepare; of a pool of `pool_size` connections a project gets at most half."""
        self._most = requests
        self._connections = max(1, pool_size // 2)
        self._counts: dict[UUID, int] = {}
        self._shares: WeakValueDictionary[UUID, asyncio.Semaphore] = WeakValueDictionary()

    def begin(self, scope: Scope, project_id: UUID) -> None:
        """Count a request until `end` is called with its scope.

        Raises:
            TooManyRequests: so many requests of the project are answered already.
        """
        count = self._counts.get(project_id, 0)
        if count >= self._most:
            raise TooManyRequests(
                f"{self._most} requests of this project are being answered", RETRY_AFTER
            )
        self._counts[project_id] = count + 1
        scope[_SCOPE] = project_id

    def end(self, scope: Scope) -> None:
        """Count a request no more; it does nothing where the request was not counted."""
        project_id: UUID | None = scope.pop(_SCOPE, None)
        if project_id is None:
            return
        self._counts[project_id] -= 1
        if not self._counts[project_id]:
            del self._counts[project_id]

    @asynccontextmanager
    async def connection(self, project_id: UUID) -> AsyncIterator[None]:
        """Have one of the project's shares of the pool during the block, in order of arrival.

        Raises:
            TooManyRequests: other requests of the project hold them all for too long.
        """
        share = self._shares.get(project_id)
        if share is None:
            share = self._shares[project_id] = asyncio.Semaphore(self._connections)
        if share.locked():
            await _acquired(share)
        else:
            await share.acquire()  # at once
        try:
            yield
        finally:
            share.release()


async def _acquired(share: asyncio.Semaphore) -> None:
    try:
        async with asyncio.timeout(CONNECTION_SECONDS):
            await share.acquire()
    except TimeoutError:
        why = "other requests of this project have used the database for too long"
        raise TooManyRequests(why, RETRY_AFTER) from None
