"""Attempts to prove who one is: slowed for each client, so that no number of them locks it out."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta

from mailqueue.admin.users import store
from mailqueue.core.errors import TooManyRequests
from mailqueue.db.fetch import Lend

WAIT_SECONDS = 30.0
"""Seconds that an attempt waits at most for its turn; later ones are refused."""
MAX_WAITING = 200
"""Attempts that wait in this process; further ones are refused."""


@dataclass(frozen=True, slots=True)
class AttemptRate:
    """How often one client may try: `burst` attempts at once, further ones every `seconds`."""

    seconds: float
    burst: int


PASSWORDS = AttemptRate(5.0, 10)
"""Passwords, and recovery codes."""
CODES = AttemptRate(300.0, 10)
"""One-time codes. Three of a million are right at a time: who knows the password guesses one with a
probability of 0.1 % in a day."""
ISSUER = AttemptRate(1.0, 100)
"""Logins at an issuer from one network: nothing can be guessed by them."""


@dataclass(slots=True)
class Attempts:
    """Counts attempts by client, in the database, and lets those beyond the rate wait."""

    lend: Lend
    _waiting: int = 0

    async def wait_for_turn(self, client_hash: bytes, rate: AttemptRate = PASSWORDS) -> None:
        """Wait until an attempt may be judged.

        Raises:
            TooManyRequests: too many attempts come from this client.
        """
        async with self.lend() as conn:
            wait = await store.take_attempt(
                conn,
                client_hash,
                seconds=rate.seconds,
                burst=rate.burst,
                wait=WAIT_SECONDS,
            )
        if wait is None or (wait and self._waiting >= MAX_WAITING):
            raise TooManyRequests(
                "too many attempts to log in come from here", timedelta(seconds=rate.seconds)
            )
        if wait:
            self._waiting += 1
            try:
                await asyncio.sleep(wait)
            finally:
                self._waiting -= 1
