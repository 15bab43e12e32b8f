"""A cache of public pictures, so that a mailing reads each of them once a minute a process."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from uuid import UUID

from mailqueue.core.errors import Unavailable
from mailqueue.db.fetch import Conn
from mailqueue.templates.pictures import store
from mailqueue.templates.pictures.model import PictureBytes

MAX_CACHED_BYTES = 32 * 1024 * 1024
"""Bytes of pictures in the cache of a process; the least recently used leave it first."""
FRESH_SECONDS = 60.0
"""How long a picture is served after it was deleted."""


@dataclass(slots=True)
class _Cached:
    """A picture, and when it is read again."""

    picture: PictureBytes
    fresh_until: float


class PictureCache:
    """The pictures that this process served last; `lend` yields a connection that sees them all."""

    def __init__(
        self,
        lend: Callable[[], AbstractAsyncContextManager[Conn]],
        *,
        max_bytes: int = MAX_CACHED_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._lend = lend
        self._max_bytes = max_bytes
        self._clock = clock
        self._bytes = 0
        self._by_token: OrderedDict[UUID, _Cached] = OrderedDict()
        self._reading = asyncio.Lock()

    async def get(self, token: UUID) -> PictureBytes | None:
        """Return the picture of a public URL; None where there is none.

        Raises:
            Unavailable: it is not in the cache, and the database cannot be read.
        """
        if (found := self._fresh(token)) is not None:
            return found
        # One after the other: unknown tokens must not take all connections.
        async with self._reading:
            if (found := self._fresh(token)) is not None:
                return found
            try:
                async with self._lend() as conn:
                    found = await store.read_public(conn, token)
            except Unavailable:
                if (cached := self._by_token.get(token)) is None:
                    raise
                return cached.picture
            self._keep(token, found)
            return found

    def _fresh(self, token: UUID) -> PictureBytes | None:
        cached = self._by_token.get(token)
        if cached is None or self._clock() >= cached.fresh_until:
            return None
        self._by_token.move_to_end(token)
        return cached.picture

    def _keep(self, token: UUID, picture: PictureBytes | None) -> None:
        if (before := self._by_token.pop(token, None)) is not None:
            self._bytes -= len(before.picture.octets)
        if picture is None:
            return
        self._by_token[token] = _Cached(picture, self._clock() + FRESH_SECONDS)
        self._bytes += len(picture.octets)
        while self._bytes > self._max_bytes:
            _, oldest = self._by_token.popitem(last=False)
            self._bytes -= len(oldest.picture.octets)
