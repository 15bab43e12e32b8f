"""Decides which requests are accepted in one commit: all that wait, or the only one.

A commit is what accepting costs most, and it is the same for one mail and for many. The answer is
given after it.
"""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from mailqueue.api.emails.schema import Sent
from mailqueue.api.sending import service as sending_service
from mailqueue.api.sending.schema import SendRequest, TemplateRequest
from mailqueue.core.errors import MailqueueError
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import Pool, borrow
from mailqueue.mail.accept.enqueue import NewEmail
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.tenants.keys.manage import in_force, not_in_force
from mailqueue.tenants.model import Caller

MOST_TOGETHER = 100
MOST_COMMITS = 4
"""Commits at once: another is begun only for a full group, so that groups grow first."""
LARGE_BYTES = 256 * 1024


@dataclass(eq=False, slots=True)
class _Asked:
    caller: Caller
    request: SendRequest | TemplateRequest
    answer: asyncio.Future[Sent]

    def refuse(self, why: Exception) -> None:
        if not self.answer.done():
            self.answer.set_exception(why)


class Intake:
    """Accepts the mail of requests, together where several wait."""

    def __init__(self, pool: Pool, database: DatabaseSettings) -> None:
        self._pool = pool
        self._database = database
        self._waiting: list[_Asked] = []
        self._workers = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def send(
        self, caller: Caller, request: SendRequest | TemplateRequest, *, size: int
    ) -> Sent:
        """Accept the mail of one request of `size` bytes and return what became of it.

        Raises:
            MailqueueError: what `mail.new_email` and the rules of mail refuse.
        """
        asked = _Asked(caller, request, asyncio.get_running_loop().create_future())
        # A key may have a twin to wait for, and a large mail takes its time: nobody else's.
        if request.idempotency_key is not None or size > LARGE_BYTES:
            await self._accept([asked])
            return asked.answer.result()
        self._waiting.append(asked)
        if self._workers < min(MOST_COMMITS, 1 + len(self._waiting) // MOST_TOGETHER):
            self._workers += 1
            task = asyncio.create_task(self._work(), name="intake")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return await asked.answer

    async def _work(self) -> None:
        try:
            while self._waiting:
                await self._work_once()
        finally:
            self._workers -= 1  # in the step that found nobody waiting: who comes next begins anew

    async def _work_once(self) -> None:
        group = self._waiting[:MOST_TOGETHER]
        del self._waiting[:MOST_TOGETHER]
        try:
            fault = await self._tried(group)
            if fault is None:
                return
            # Something is wrong with one of them, or with us: each hears of its own.
            for asked in group:
                if isinstance(fault, MailqueueError) or len(group) == 1:
                    asked.refuse(fault)
                elif not asked.answer.done() and (its := await self._tried([asked])):
                    asked.refuse(its)
        finally:
            for asked in group:
                asked.answer.cancel()  # nothing where it was answered

    async def _tried(self, group: list[_Asked]) -> Exception | None:
        (fault,) = await asyncio.gather(self._accept(group), return_exceptions=True)
        if fault is None or isinstance(fault, Exception):
            return fault
        raise fault

    async def _accept(self, group: list[_Asked]) -> None:
        emails: dict[str, list[tuple[_Asked, NewEmail]]] = {}
        for asked in group:
            try:
                email = sending_service.new_email(asked.caller, asked.request)
            except MailqueueError as exc:
                asked.refuse(exc)
            else:
                emails.setdefault(asked.caller.project, []).append((asked, email))
        if not emails:
            return
        async with borrow(self._pool, self._database) as conn:
            valid = await in_force(conn, {asked.caller.id for asked in group})
            for project, some in emails.items():
                still = [one for one in some if _is_let_in(one[0], valid)]
                if still:
                    await _store(conn, project, still)


def _is_let_in(asked: _Asked, valid: Collection[UUID]) -> bool:
    """Return whether the key is still in force, and refuse it where it is not."""
    if asked.caller.id not in valid:
        asked.refuse(not_in_force())
        return False
    return True


async def _store(conn: Conn, project: str, some: list[tuple[_Asked, NewEmail]]) -> None:
    found = await sending_service.accept(conn, project, [email for _, email in some])
    for (asked, _), result in zip(some, found, strict=True):
        if isinstance(result, Sent):
            asked.answer.set_result(result)
        else:
            asked.refuse(result)
