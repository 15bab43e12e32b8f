"""Reads what a server answers as it comes: no task wakes up for each piece of it.

The answer to a claim is a megabyte, and comes in some hundred pieces. The driver's own wait makes
a future and a timer, and asks the loop to watch the socket anew, for each.
"""

import asyncio
from typing import Generic

from psycopg.abc import RV, PQGen
from psycopg.waiting import Ready, Wait


class Reading(Generic[RV]):
    """An operation of the driver, run from the loop for as long as it only reads."""

    def __init__(self, gen: PQGen[RV]) -> None:
        self._gen = gen
        self._state: Wait | None = None  # None: it has ended
        self._done: RV
        self._fault: BaseException | None = None

    async def ended(self, fileno: int) -> None:
        """Run it to its end, or to where it wants more than to read."""
        self._step(None)
        if self._state != Wait.R:
            return
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[None] = loop.create_future()

        def readable() -> None:
            self._step(Ready.R)
            if self._state != Wait.R and not ended.done():
                ended.set_result(None)

        loop.add_reader(fileno, readable)
        try:
            await ended
        finally:
            loop.remove_reader(fileno)

    def rest(self) -> PQGen[RV]:
        """Give what is left of it, its result too."""
        while self._state is not None:
            ready = yield self._state
            self._step(Ready(ready))
        if self._fault is not None:
            raise self._fault
        return self._done

    def _step(self, ready: Ready | None) -> None:
        try:
            self._state = next(self._gen) if ready is None else self._gen.send(ready)
        except StopIteration as ended:
            self._done = ended.value
            self._state = None
        except BaseException as fault:  # it is raised where the operation is awaited
            self._fault = fault
            self._state = None
