"""Marks notifications before they are posted: those that begin at the same time share a commit."""

from collections.abc import Sequence

from mailqueue.db.group_commit import GroupCommit, GroupLimits, Waiter
from mailqueue.db.link import Link
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.watch.model import ClaimedNotification
from mailqueue.watch.store import work as store
from mailqueue.watch.store.work import NotificationClaim

LIMITS = GroupLimits(rows=100)


class NotificationMarks:
    """Marks claimed notifications on a connection of its own."""

    def __init__(self, database: DatabaseSettings) -> None:
        self._link = Link(database, "mailqueue/notifications-mark")
        self._group = GroupCommit[NotificationClaim, str](
            self._write, name="notification marks", limits=LIMITS
        )

    async def begin(self, row: ClaimedNotification) -> str:
        """Mark a notification; return its state, as `begin_notification` in SQL does.

        Raises:
            Unavailable: the process stops.
        """
        return await self._group.submit(NotificationClaim(row.id, row.claim_no))

    async def close(self) -> None:
        """Close the connection."""
        await self._group.aclose()
        await self._link.close()

    async def _write(self, group: Sequence[Waiter[NotificationClaim, str]]) -> None:
        # In the order in which leases are extended, so that neither waits for the other in turn.
        claims = sorted({waiter.item for waiter in group})
        states = await self._link.call(lambda conn: store.begin(conn, claims))
        for waiter in group:
            waiter.succeed(states[waiter.item])
