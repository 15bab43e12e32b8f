"""Decides which requests of providers are kept in one commit: all that wait, or the only one.

Providers come in bursts, and each waits for its answer: that is given after the commit.
"""

import asyncio
from dataclasses import dataclass

from mailqueue.db.pool import Pool, borrow
from mailqueue.inbound import store
from mailqueue.inbound.model import Kept
from mailqueue.settings.environment import DatabaseSettings

MOST_TOGETHER = 100
MOST_BYTES = 8 * 1024 * 1024
MOST_COMMITS = 2


@dataclass(eq=False, slots=True)
class _Waiting:
    kept: Kept
    done: asyncio.Future[None]


class Keeping:
    """Keeps requests, together where several wait."""

    def __init__(self, pool: Pool, database: DatabaseSettings) -> None:
        self._pool = pool
        self._database = database
        self._waiting: list[_Waiting] = []
        self._workers = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def keep(self, kept: Kept) -> None:
        """Keep one; when this ends it is durable.

        Raises:
            Unavailable: the database is away.
        """
        one = _Waiting(kept, asyncio.get_running_loop().create_future())
        self._waiting.append(one)
        if self._workers < MOST_COMMITS:
            self._workers += 1
            task = asyncio.create_task(self._work(), name="inbound-keep")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        await one.done

    async def _work(self) -> None:
        try:
            while self._waiting:
                await self._work_once(self._next())
        finally:
            self._workers -= 1

    def _next(self) -> list[_Waiting]:
        group, size = list[_Waiting](), 0
        while self._waiting and len(group) < MOST_TOGETHER and size < MOST_BYTES:
            group.append(self._waiting.pop(0))
            size += len(group[-1].kept.body)
        return group

    async def _work_once(self, group: list[_Waiting]) -> None:
        try:
            fault = await self._tried(group)
            for one in group:
                if one.done.done():
                    continue
                # Something is wrong with one of them, or with us: each hears of its own.
                its = await self._tried([one]) if fault and len(group) > 1 else fault
                if its is None:
                    one.done.set_result(None)
                else:
                    one.done.set_exception(its)
        finally:
            for one in group:
                one.done.cancel()  # nothing where it was answered

    async def _tried(self, group: list[_Waiting]) -> Exception | None:
        (found,) = await asyncio.gather(self._keep(group), return_exceptions=True)
        if found is None or isinstance(found, Exception):
            return found
        raise found

    async def _keep(self, group: list[_Waiting]) -> None:
        async with borrow(self._pool, self._database) as conn:
            await store.keep(conn, [one.kept for one in group])
