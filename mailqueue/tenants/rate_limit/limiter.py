"""Decides whether a key or project may make another request now.

A bucket in PostgreSQL holds what all processes together may still allow, and fills steadily. Each
process leases some of it and counts those alone, so that not every request writes a row: of ten
requests a second, about one.
"""

import asyncio
import math
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from mailqueue.core.errors import TooManyRequests
from mailqueue.db.fetch import Conn
from mailqueue.tenants.rate_limit import store as rate_limit_store

Lend = Callable[[], AbstractAsyncContextManager[Conn]]
WINDOW_SECONDS = 10
"""What may come at once is what may come in so many seconds."""
SHARE = 10
"""A lease takes one part in so many of the whole."""
LEASE_SECONDS = 1.0
"""After that what is left goes back: another process may need it."""
MAX_KEPT = 10_000


@dataclass(slots=True)
class _Held:
    """What this process has of a bucket."""

    capacity: float
    per_second: float
    tokens: float = 0.0
    until: float = 0.0
    there: float = 0.0  # in the bucket when it was last asked
    refused_until: float = 0.0
    refused: float = 1.0  # so much and more
    leasing: asyncio.Task[None] | None = field(default=None, repr=False)

    @property
    def left(self) -> int:
        return max(0, int(self.tokens + self.there))


@dataclass(frozen=True, slots=True)
class Standing:
    """How a bucket stands after a request was let in."""

    limit: int  # requests in WINDOW_SECONDS
    left: int
    full_seconds: int  # until it is full again


class RanOut(TooManyRequests):
    """A bucket is empty: of `what`, which stands at `standing`."""

    def __init__(self, what: str, standing: Standing, retry_after: timedelta) -> None:
        super().__init__(f"{what} may make {standing.limit} in {WINDOW_SECONDS} s", retry_after)
        self.what = what
        self.standing = standing


class Allowance:
    """Lets requests in, or says when to come again."""

    def __init__(self, lend: Lend, *, now: Callable[[], float] = time.monotonic) -> None:
        self._lend = lend
        self._now = now
        self._held: dict[UUID, _Held] = {}

    async def take(
        self, bucket: UUID, per_second: float, *, what: str, count: int = 1, least: float = 1.0
    ) -> Standing:
        """Let a request in that takes so many out of the bucket, which holds `least` at least.

        Raises:
            RanOut: says what is bounded (`what`) and when to come again.
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

    def _of(self, bucket: UUID, per_second: float, least: float) -> _Held:
        held = self._held.get(bucket)
        if held is None or held.per_second != per_second:
            if len(self._held) >= MAX_KEPT:
                self._held.clear()
            capacity = max(least, float(per_second * WINDOW_SECONDS))
            held = self._held[bucket] = _Held(capacity, per_second)
        return held

    async def _lease(self, bucket: UUID, held: _Held, count: int) -> None:
        try:
            async with self._lend() as conn:
                found = await rate_limit_store.lease(
                    conn,
                    bucket,
                    capacity=held.capacity,
                    per_second=held.per_second,
                    wanted=max(count, math.ceil(held.capacity / SHARE)),
                    returned=held.tokens,
                )
            held.tokens, held.there = found.granted, found.tokens
            held.until = self._now() + LEASE_SECONDS
            if found.granted < count:
                # Nobody asks the database again for as many before there can be as many.
                missing = count - found.granted - found.tokens
                held.refused, held.refused_until = count, self._now() + missing / held.per_second
        finally:
            held.leasing = None


def _standing(held: _Held) -> Standing:
    missing = held.capacity - held.left
    return Standing(int(held.capacity), held.left, math.ceil(missing / held.per_second))


def _refused(held: _Held, what: str, seconds: float) -> RanOut:
    return RanOut(what, _standing(held), timedelta(seconds=seconds))
