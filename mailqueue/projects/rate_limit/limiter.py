"""Rate limit for the requests of keys and projects.

A sliding window in PostgreSQL is shared by all processes: in no ten seconds are there more requests
than the rate gives. Each process leases a share and counts against it in memory, so that not every
request writes a row: about two statements per second and process. Requests above the rate wait for
their turn, some at a time and for some seconds; they hold no connection meanwhile.
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
from mailqueue.projects.rate_limit import store as rate_limit_store

WINDOW_SECONDS = 10
"""Length of the window of a rate."""
SHARE = 10
"""A lease takes 1/SHARE of the requests of a window."""
LEASE_SECONDS = 0.5
"""How long a lease lasts, in seconds; the rest of it then returns to the window."""
MAX_KEPT = 10_000
MAX_WAIT_SECONDS = 12.0
"""Seconds for which a request waits for its turn: a window, one of its slots and a lease."""
MAX_WAITING = 100
"""Requests of one rate that wait in this process; further ones are refused at once."""
MAX_WAITING_IN_PROCESS = 1_000
"""Requests of all rates that wait in this process."""


@dataclass(slots=True)
class _Lease:
    """The lease of this process on one bucket."""

    capacity: float
    per_second: float
    tokens: float = 0.0
    slot: float = 0.0  # of the window, in which they are counted
    until: float = 0.0
    there: float = 0.0  # left in the window at the last lease
    refused_until: float = 0.0
    refused: float = 1.0  # the smallest count that was refused
    leasing: asyncio.Task[None] | None = field(default=None, repr=False)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)  # of those that wait
    waiting: int = 0

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
    """The bucket is empty: `what` names it, `bucket` is its state."""

    def __init__(self, what: str, bucket: BucketState, retry_after: timedelta) -> None:
        super().__init__(
            f"{what} may make {bucket.limit} requests in {WINDOW_SECONDS} s", retry_after
        )
        self.what = what
        self.bucket = bucket


class RateLimiter:
    """Rate limiter of one process."""

    def __init__(self, lend: Lend, *, now: Callable[[], float] = time.monotonic) -> None:
        self._lend = lend
        self._now = now
        self._held: dict[UUID, _Lease] = {}
        self._waiting = 0

    async def take_in_turn(
        self, bucket: UUID, per_second: float, *, what: str, until: float
    ) -> BucketState:
        """Take one request, and wait for it if need be, behind those that wait already.

        `until` is a time of the running loop.

        Raises:
            RateLimitExceeded: its turn does not come until then, or too many wait.
        """
        held = self._of(bucket, per_second, 1.0)
        if not held.turn.locked():
            try:
                return await self.take(bucket, per_second, what=what)
            except RateLimitExceeded as exc:
                if _now() + exc.retry_after.total_seconds() > until:
                    raise
        if held.waiting >= MAX_WAITING or self._waiting >= MAX_WAITING_IN_PROCESS:
            raise _refused(held, what, max(1.0, held.refused_until - self._now()))
        held.waiting += 1
        self._waiting += 1
        try:
            async with asyncio.timeout_at(until), held.turn:
                return await self._taken_later(bucket, per_second, what, until)
        except TimeoutError:
            raise _refused(held, what, max(1.0, held.refused_until - self._now())) from None
        finally:
            held.waiting -= 1
            self._waiting -= 1

    async def _taken_later(
        self, bucket: UUID, per_second: float, what: str, until: float
    ) -> BucketState:
        while True:
            try:
                return await self.take(bucket, per_second, what=what)
            except RateLimitExceeded as exc:
                wait = max(0.01, exc.retry_after.total_seconds())
                if _now() + wait > until:
                    raise
            await asyncio.sleep(wait)

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
        return _bucket_of(held)

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
                asked_at = self._now()
                found = await rate_limit_store.lease(
                    conn,
                    bucket,
                    capacity=held.capacity,
                    per_second=held.per_second,
                    seconds=LEASE_SECONDS,
                    count=count,
                    wanted=max(count, math.ceil(held.capacity / SHARE)),
                    slot=held.slot,
                    returned=held.tokens,
                )
            held.tokens, held.there, held.slot = found.granted, found.free, found.slot
            held.until = asked_at + LEASE_SECONDS
            if found.wait is not None:  # no statement is run before the window has that many
                held.refused, held.refused_until = count, self._now() + found.wait
        finally:
            held.leasing = None


def _now() -> float:
    return asyncio.get_running_loop().time()


def _bucket_of(held: _Lease) -> BucketState:
    missing = held.capacity - held.left
    return BucketState(int(held.capacity), held.left, math.ceil(missing / held.per_second))


def _refused(held: _Lease, what: str, seconds: float) -> RateLimitExceeded:
    return RateLimitExceeded(what, _bucket_of(held), timedelta(seconds=seconds))
