"""Accepts the messages of programs: those that wait together share a commit.

No program is told that its message was accepted before the commit.
"""

from collections.abc import Sequence
from typing import NamedTuple

from mailqueue.core.crashpoints import reach
from mailqueue.core.errors import MailqueueError
from mailqueue.db.fetch import Conn
from mailqueue.db.group_commit import GroupCommit, GroupLimits, Size, Waiter
from mailqueue.db.pool import Pool, borrow
from mailqueue.mail.accept.raw import PreparedRaw, accept_prepared
from mailqueue.mail.model import BatchRow
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.tenants.keys.manage import in_force, not_in_force
from mailqueue.tenants.model import Caller

GROUP_LIMITS = GroupLimits(rows=100, bytes=4 * 1024 * 1024, commits=4)
"""A row is a mail; a message to many recipients is several."""


class _Message(NamedTuple):
    caller: Caller
    email: PreparedRaw

    @property
    def size(self) -> Size:
        return Size(len(self.email.documents), len(self.email.octets))


_Waiter = Waiter[_Message, BatchRow]


class Intake:
    """Accepts messages from many connections and commits them together."""

    def __init__(self, pool: Pool, database: DatabaseSettings) -> None:
        self._pool = pool
        self._database = database
        self._group = GroupCommit(
            self._accept,
            name="submission intake",
            limits=GROUP_LIMITS,
            size=lambda message: message.size,
        )

    async def accept(self, caller: Caller, email: PreparedRaw) -> BatchRow:
        """Accept one message of a key; return when it is committed.

        Raises:
            MailqueueError: it was not accepted.
        """
        return await self._group.submit(_Message(caller, email))

    async def _accept(self, group: Sequence[_Waiter]) -> None:
        async with borrow(self._pool, self._database) as conn:
            valid = await in_force(conn, {waiter.item.caller.id for waiter in group})
            by_project: dict[str, list[_Waiter]] = {}
            for waiter in group:
                caller = waiter.item.caller
                if caller.id not in valid:
                    waiter.fail(not_in_force())
                if not waiter.is_answered:
                    by_project.setdefault(caller.project, []).append(waiter)
            for project, some in by_project.items():
                await _store(conn, project, some)


async def _store(conn: Conn, project: str, some: Sequence[_Waiter]) -> None:
    # Those with the same keys in another process take them in the same order.
    some = sorted(some, key=lambda waiter: waiter.item.email.key)
    try:
        emails = [waiter.item.email for waiter in some]
        rows = await accept_prepared(conn, emails, project=project)
    except MailqueueError as exc:
        if len(some) == 1:
            some[0].fail(exc)
            return
        raise
    reach("submission.accepted")
    for waiter, row in zip(some, rows, strict=True):
        waiter.succeed(row)
