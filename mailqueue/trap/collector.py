"""Stores caught mail: messages received at the same time share a commit.

A message is accepted only after the transaction that stores it has committed.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager

from mailqueue.core.crashpoints import reach
from mailqueue.core.errors import MailqueueError
from mailqueue.db.group_commit import GroupCommit, GroupLimits, Size, Waiter
from mailqueue.db.pool import Pool, borrow
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.telemetry.log import get_logger
from mailqueue.trap import store
from mailqueue.trap.model import CaughtMessage

GROUP_LIMITS = GroupLimits(rows=100, bytes=16 * 1024 * 1024, commits=1)
Collector = GroupCommit[CaughtMessage, None]

log = get_logger(__name__)


@asynccontextmanager
async def collector(pool: Pool, database: DatabaseSettings) -> AsyncIterator[Collector]:
    """Yield the function that stores messages; at the end all submitted ones are committed."""

    async def keep(group: Sequence[Waiter[CaughtMessage, None]]) -> None:
        try:
            async with borrow(pool, database) as conn:
                await store.add(conn, [waiter.item for waiter in group])
        except MailqueueError as exc:
            log.warning("trap.failed", messages=len(group), error=str(exc))
            raise
        reach("trap.kept")
        for waiter in group:
            waiter.succeed(None)

    made = GroupCommit(
        keep, name="trap collector", limits=GROUP_LIMITS, size=lambda one: Size(bytes=len(one.raw))
    )
    async with aclosing(made):
        yield made
