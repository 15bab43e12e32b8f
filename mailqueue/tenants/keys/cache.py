"""Decides for how long a key that was found is believed: a second.

Without that, every request would cost a look-up of its own. Revoking holds at once all the same:
whatever a request does in the database begins by asking whether its key is in force.
"""

import asyncio
import ipaddress
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from mailqueue.db.fetch import Conn
from mailqueue.tenants.keys.manage import find_key
from mailqueue.tenants.model import Caller

Lend = Callable[[], AbstractAsyncContextManager[Conn]]
BELIEVED_SECONDS = 1.0
MAX_KEPT = 10_000


class Callers:
    """Finds who keys speak for."""

    def __init__(self, lend: Lend, *, believed_seconds: float = BELIEVED_SECONDS) -> None:
        self._lend = lend
        self._believed_seconds = believed_seconds
        self._kept: dict[str, tuple[float, Caller]] = {}
        self._asked: dict[str, asyncio.Task[Caller | None]] = {}

    async def find(self, key: str, *, address: str | None = None) -> Caller | None:
        """Return who the key speaks for; None for one that is not in force.

        `address` is the client's, to be shown beside the key.
        """
        kept = self._kept.get(key)
        if kept is not None and kept[0] > time.monotonic():
            return kept[1]
        asked = self._asked.get(key)
        if asked is None:
            asked = asyncio.create_task(self._look_up(key, address), name="callers")
            self._asked[key] = asked
            asked.add_done_callback(lambda _: self._asked.pop(key, None))
        # Others may wait for the same answer: who gives up leaves it to them.
        return await asyncio.shield(asked)

    def forget(self) -> None:
        """Believe nothing any more: a key was changed here."""
        self._kept.clear()

    async def _look_up(self, key: str, address: str | None) -> Caller | None:
        until = time.monotonic() + self._believed_seconds
        async with self._lend() as conn:
            found = await find_key(conn, key, address=_numeric(address))
        if found is None:
            self._kept.pop(key, None)
        elif not found.is_test or found.trap_sender is not None:  # a trap that is made counts now
            if len(self._kept) >= MAX_KEPT:
                self._kept.clear()
            self._kept[key] = (until, found)
        return found


def _numeric(address: str | None) -> str | None:
    """Return an address of IP without its zone; None for the path of a socket and the like."""
    try:
        return str(ipaddress.ip_address((address or "").partition("%")[0]))
    except ValueError:
        return None
