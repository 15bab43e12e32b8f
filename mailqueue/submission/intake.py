"""Decides which messages are accepted in one commit: all that wait, or a large one alone.

Nobody is told that a message was taken before the commit.
"""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from mailqueue.core.crashpoints import reach
from mailqueue.core.errors import MailqueueError, Unavailable
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import Pool, borrow
from mailqueue.mail.accept.raw import PreparedRaw, accept_prepared
from mailqueue.mail.model import BatchRow
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.tenants.keys.manage import in_force, not_in_force
from mailqueue.tenants.model import Caller

MOST_TOGETHER = 100
"""Mails in one commit; a message to many recipients is several."""
MOST_BYTES = 4 * 1024 * 1024
MOST_COMMITS = 4
"""Commits at once: another is begun only for a full group, so that groups grow first."""


@dataclass(eq=False, slots=True)
class _Asked:
    caller: Caller
    email: PreparedRaw
    answer: asyncio.Future[BatchRow]

    def take(self, row: BatchRow) -> None:
        if not self.answer.done():  # the client is gone
            self.answer.set_result(row)

    def refuse(self, why: Exception) -> None:
        if not self.answer.done():
            self.answer.set_exception(why)


class Intake:
    """Accepts messages from many connections and commits them together."""

    def __init__(self, pool: Pool, database: DatabaseSettings) -> None:
        self._pool = pool
        self._database = database
        self._waiting: list[_Asked] = []
        self._workers = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def accept(self, caller: Caller, email: PreparedRaw) -> BatchRow:
        """Accept one message of a key; return when it is committed.

        Raises:
            MailqueueError: it was not accepted.
        """
        asked = _Asked(caller, email, asyncio.get_running_loop().create_future())
        self._waiting.append(asked)
        if self._workers < min(MOST_COMMITS, 1 + len(self._waiting) // MOST_TOGETHER):
            self._workers += 1
            task = asyncio.create_task(self._work(), name="submission intake")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return await asked.answer

    async def _work(self) -> None:
        try:
            while self._waiting:
                await self._work_once(self._taken())
        finally:
            self._workers -= 1  # in the step that found nobody waiting: who comes next begins anew

    async def _work_once(self, group: list[_Asked]) -> None:
        try:
            fault = await self._tried(group)
            if fault is None:
                return
            # Something is wrong with one of them, or the database is away: each hears of its own.
            is_away = isinstance(fault, Unavailable)
            for asked in group:
                if len(group) == 1 or is_away:
                    asked.refuse(fault)
                elif not asked.answer.done() and (its := await self._tried([asked])):
                    asked.refuse(its)
        finally:
            for asked in group:
                asked.refuse(Unavailable("nobody is left to accept it"))  # nothing where answered

    async def _tried(self, group: list[_Asked]) -> Exception | None:
        (fault,) = await asyncio.gather(self._accept(group), return_exceptions=True)
        if fault is None or isinstance(fault, Exception):
            return fault
        raise fault

    async def _accept(self, group: list[_Asked]) -> None:
        by_project: dict[str, list[_Asked]] = {}
        for asked in group:
            by_project.setdefault(asked.caller.project, []).append(asked)
        async with borrow(self._pool, self._database) as conn:
            valid = await in_force(conn, {asked.caller.id for asked in group})
            for project, some in by_project.items():
                still = [one for one in some if _is_let_in(one, valid)]
                if still:
                    await _store(conn, project, still)

    def _taken(self) -> list[_Asked]:
        group: list[_Asked] = []
        size = mails = 0
        while self._waiting:
            size += len(self._waiting[0].email.octets)
            mails += len(self._waiting[0].email.documents)
            if group and (size > MOST_BYTES or mails > MOST_TOGETHER):
                break
            group.append(self._waiting.pop(0))
        return group


def _is_let_in(asked: _Asked, valid: Collection[UUID]) -> bool:
    """Return whether the key is still in force, and refuse it where it is not."""
    if asked.caller.id not in valid:
        asked.refuse(not_in_force())
    return not asked.answer.done()


async def _store(conn: Conn, project: str, some: list[_Asked]) -> None:
    # Those with the same keys in another process take them in the same order.
    some = sorted(some, key=lambda asked: asked.email.key)
    try:
        rows = await accept_prepared(conn, [asked.email for asked in some], project=project)
    except MailqueueError as exc:
        if len(some) == 1:
            some[0].refuse(exc)
            return
        raise
    reach("submission.accepted")
    for asked, row in zip(some, rows, strict=True):
        asked.take(row)
