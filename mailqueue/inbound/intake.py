"""Store the requests of providers: requests that arrive together share a commit.

Providers send in bursts, and each request is answered after its commit.
"""

from collections.abc import Sequence

from mailqueue.db.group_commit import GroupCommit, GroupLimits, Size, Waiter
from mailqueue.db.pool import Pool, borrow
from mailqueue.inbound import store
from mailqueue.inbound.model import NewRequest
from mailqueue.settings.environment import DatabaseSettings

GROUP_LIMITS = GroupLimits(rows=100, bytes=8 * 1024 * 1024, commits=2)
RequestIntake = GroupCommit[NewRequest, None]


def intake_of(pool: Pool, database: DatabaseSettings) -> RequestIntake:
    """Return the group commit for requests; a call returns once its request is durable."""

    async def keep(group: Sequence[Waiter[NewRequest, None]]) -> None:
        async with borrow(pool, database) as conn:
            await store.keep(conn, [waiter.item for waiter in group])
        for waiter in group:
            waiter.succeed(None)

    return GroupCommit(
        keep,
        name="inbound-keep",
        limits=GROUP_LIMITS,
        size=lambda kept: Size(bytes=len(kept.body)),
    )
