"""Cache the look-up of API keys for one second.

A look-up for each request would double its cost. Revoking still takes effect at once: the
statements of a request check first that its key is active.
"""

import asyncio
import ipaddress
import time

from mailqueue.db.fetch import Lend
from mailqueue.projects.keys.manage import find_key
from mailqueue.projects.model import Caller

BELIEVED_SECONDS = 1.0
MAX_KEPT = 10_000


class KeyCache:
    """Cache of the callers that API keys belong to."""

    def __init__(self, lend: Lend, *, believed_seconds: float = BELIEVED_SECONDS) -> None:
        self._lend = lend
        self._believed_seconds = believed_seconds
        self._kept: dict[str, tuple[float, Caller]] = {}
        self._asked: dict[str, asyncio.Task[Caller | None]] = {}

    async def find(self, key: str, *, address: str | None = None) -> Caller | None:
        """Return the caller of a key; None unless the key is active.

        `address` is the client's IP address, stored as the key's last use.
        """
        kept = self._kept.get(key)
        if kept is not None and kept[0] > time.monotonic():
            return kept[1]
        asked = self._asked.get(key)
        if asked is None:
            asked = asyncio.create_task(self._look_up(key, address), name="callers")
            self._asked[key] = asked
            asked.add_done_callback(lambda _: self._asked.pop(key, None))
        # Shielded: other requests may wait for the same look-up when one is cancelled.
        return await asyncio.shield(asked)

    def forget(self) -> None:
        """Empty the cache, after a key was changed in this process."""
        self._kept.clear()

    async def _look_up(self, key: str, address: str | None) -> Caller | None:
        until = time.monotonic() + self._believed_seconds
        async with self._lend() as conn:
            found = await find_key(conn, key, address=_numeric(address))
        if found is None:
            self._kept.pop(key, None)
        elif not found.is_test or found.trap_sender is not None:  # the trap may start any time
            if len(self._kept) >= MAX_KEPT:
                self._kept.clear()
            self._kept[key] = (until, found)
        return found


def _numeric(address: str | None) -> str | None:
    """Return an IP address without its zone; None for anything else, such as the path of a
    socket.
    """
    try:
        return str(ipaddress.ip_address((address or "").partition("%")[0]))
    except ValueError:
        return None
