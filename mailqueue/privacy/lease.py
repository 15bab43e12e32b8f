"""The lease of one erasure: each step renews it in its transaction, so that one process erases."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from uuid import UUID, uuid4

from mailqueue.core.errors import LeaseLost
from mailqueue.db import leases
from mailqueue.db.fetch import Conn, Lend
from mailqueue.db.leases import LEASE_SECONDS, Lease
from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.privacy import store


class ErasureLease:
    """The lease of this process on one erasure."""

    def __init__(self, lend: Lend, erasure_id: UUID) -> None:
        self._lend = lend
        self.erasure_id = erasure_id
        self._lease = Lease(f"erasure {erasure_id}", uuid4())
        self._is_kept = False
        self._has_ended = False

    @asynccontextmanager
    async def lend(self) -> AsyncIterator[Conn]:
        """Lend a connection for one step, during which no other process works on this erasure.

        Raises:
            LeaseLost: another process holds the lease.
        """
        async with self._lend() as conn:
            if self._is_kept:
                await leases.call_with_retries(conn, self._lease)
            elif not await self._renew(conn):
                raise LeaseLost(f"{self._lease.name} is held by another process")
            yield conn

    @asynccontextmanager
    async def kept_by(self, context: MaintenanceContext | None) -> AsyncIterator[None]:
        """Renew the lease during a block with long steps.

        Raises:
            Unavailable: it could not be renewed; the block was cancelled.
        """
        if context is None:
            yield
            return
        async with leases.renewed(
            partial(leases.renew, context.keeper, self._lease), self._lease.name
        ):
            self._is_kept = True
            try:
                yield
            finally:
                self._is_kept = False

    async def end(self) -> None:
        """Release the lease, unless `end_in` has."""
        if not self._has_ended:
            async with self._lend() as conn:
                await self.end_in(conn)

    async def end_in(self, conn: Conn) -> None:
        """Release the lease in the transaction of the last step."""
        await store.release(conn, self.erasure_id, self._lease.token)
        self._has_ended = True

    async def _renew(self, conn: Conn) -> bool:
        return await store.lease(conn, self.erasure_id, self._lease.token, seconds=LEASE_SECONDS)
