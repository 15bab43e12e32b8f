"""Rate limit for the requests of keys and projects.

A token bucket in PostgreSQL, refilled at a constant rate, is shared by all processes. Each process
leases a share and counts against it in memory, so that not every request writes a row: about one
statement per second and process.
"""

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from mailqueue.core.errors import TooManyRequests
from mailqueue.db.fetch import Lend
from mailqueue.tenants.rate_limit import store as rate_limit_store

WINDOW_SECONDS = 10
"""Capacity of a bucket, in seconds of its rate."""
SHARE = 10
"""A lease takes 1/SHARE of the capacity."""
LEASE_SECONDS = 1.0
"""How long a lease lasts, in seconds; the rest of it then returns to the bucket."""
MAX_KEPT = 10_000


@dataclass(slots=True)
class _Lease:
    """The lease of this process on one bucket."""

    capacity: float
    per_second: float
    tokens: float = 0.0
    until: float = 0.0
    there: float = 0.0  # tokens in the bucket at the last lease
    refused_until: float = 0.0
    refused: float = 1.0  # the smallest count that was refused
    leasing: asyncio.Task[None] | None = field(default=None, repr=False)

    @property
    def left(self) -> int:
        return max(0, int(self.tokens + self.there))


@dataclass(frozen=True, slots=True)
class BucketState:
    """State of a bucket after a request was allowed."""

    limit: int  # requests in WINDOW_SECONDS
    left: int
    full_seconds: int  # seconds until it is full


class RateLimitExceeded(TooManyRequests):
    """The bucket is empty: `what` names it, `standing` is its state."""

    def __init__(self, what: str, standing: BucketState, retry_after: timedelta) -> None:
        super().__init__(
            f"{what} may make {standing.limit} requests in {WINDOW_SECONDS} s", retry_after
        )
        self.what = what
        self.standing = standing


class RateLimiter:
    """Rate limiter of one process."""

    def __init__(self, lend: Lend, *, now: Callable[[], float] = time.monotonic) -> None:
        self._lend = lend
        self._now = now
        self._held: dict[UUID, _Lease] = {}

    async def take(
        self, bucket: UUID, per_second: float, *, what: str, count: int = 1, least: float = 1.0
    ) -> BucketState:
        """Take `count` requests from a bucket of capacity `least` or more; return its state.

        Raises:
            RateLimitExceeded: the bucket is empty; has the limit's name (`what`) and the wait.
        """
        held = self._of(bucket, per_second, least)
        while held.tokens < count or held.until <= self._now():
            if count >= held.refused and held.refused_until > self._now():
                raise _refused(held, what, held.refused_until - self._now())
            if held.leasing is None:
                held.leasing = asyncio.create_task(self._lease(bucket, held, count), name="lease")
            await asyncio.shield(held.leasing)
        held.tokens -= count
        return _standing(held)

    def _of(self, bucket: UUID, per_second: float, least: float) -> _Lease:
        held = self._held.get(bucket)
        if held is None or held.per_second != per_second:
            if len(self._held) >= MAX_KEPT:
                self._held.clear()
            capacity = max(least, float(per_second * WINDOW_SECONDS))
            held = self._held[bucket] = _Lease(capacity, per_second)
        return held

    async def _lease(self, bucket: UUID, held: _Lease, count: int) -> None:
        try:
            async with self._lend() as conn:
                found = await rate_limit_store.lease(
                    conn,
                    bucket,
                    capacity=held.capacity,
                    per_second=held.per_second,
                    tokens=max(count, math.ceil(held.capacity / SHARE)),
                    returned=held.tokens,
                )
            held.tokens, held.there = found.granted, found.tokens
            held.until = self._now() + LEASE_SECONDS
            if found.granted < count:
                # No statement is run before the bucket can hold that many.
                missing = count - found.granted - found.tokens
                held.refused, held.refused_until = count, self._now() + missing / held.per_second
        finally:
            held.leasing = None


def _standing(held: _Lease) -> BucketState:
    missing = held.capacity - held.left
    return BucketState(int(held.capacity), held.left, math.ceil(missing / held.per_second))


def _refused(held: _Lease, what: str, seconds: float) -> RateLimitExceeded:
    return RateLimitExceeded(what, _standing(held), timedelta(seconds=seconds))
