"""The runtime of the API: pool, settings, and transactions for a tenant."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID

from mailqueue.api.http.dependencies import Services
from mailqueue.api.http.requests.in_flight import RequestsInFlight
from mailqueue.api.http.requests.large_bodies import Bodies
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import Pool, borrow
from mailqueue.db.replica import Replica
from mailqueue.mail.accept.intake import Intake
from mailqueue.projects.actor import act_for
from mailqueue.projects.keys.cache import KeyCache
from mailqueue.projects.keys.manage import in_force, not_in_force
from mailqueue.projects.rate_limit.limiter import RateLimiter
from mailqueue.settings.environment import Settings


@dataclass(frozen=True, slots=True)
class Runtime:
    """The objects shared by all requests."""

    settings: Settings
    pool: Pool
    services: Services
    replica: Replica | None = None  # answers reports
    intake: Intake = field(init=False)
    callers: KeyCache = field(init=False)
    allowance: RateLimiter = field(init=False)
    bodies: Bodies = field(init=False)
    in_flight: RequestsInFlight = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "intake", Intake(self.pool, self.settings.database))
        object.__setattr__(self, "callers", KeyCache(self.borrow))
        object.__setattr__(self, "allowance", RateLimiter(self.borrow))
        object.__setattr__(self, "bodies", Bodies(self.allowance))
        in_flight = RequestsInFlight(
            requests=self.settings.api.project_requests, pool_size=self.pool.max_size
        )
        object.__setattr__(self, "in_flight", in_flight)

    @asynccontextmanager
    async def borrow(self) -> AsyncIterator[Conn]:
        """Yield a connection in autocommit mode, with the privileges of the login role."""
        async with borrow(self.pool, self.settings.database) as conn:
            yield conn

    @asynccontextmanager
    async def transaction(
        self,
        tenant: UUID | None,
        *,
        by: str,
        key_id: UUID | None = None,
        is_test: bool | None = None,
        is_read_only: bool = False,
        is_report: bool = False,
    ) -> AsyncIterator[Conn]:
        """Yield a connection in a transaction for one project, or for all of them (None).

        `is_test` is the mode of the key, None for both. The audit log names `by`. A report may be
        read from the replica, a few seconds late.

        Raises:
            Unauthorized: the key was revoked during the request.
        """
        source = self.borrow()
        if is_report and self.replica is not None:
            if key_id is not None:  # the replica may not have it yet, or not know that it ended
                async with self.borrow() as conn:
                    if not await in_force(conn, [key_id]):
                        raise not_in_force()
                key_id = None
            source = self.replica.lend(self.borrow)
        async with source as conn, conn.transaction():
            if not await act_for(
                conn, tenant, by=by, key_id=key_id, is_test=is_test, is_read_only=is_read_only
            ):
                raise not_in_force()
            yield conn
