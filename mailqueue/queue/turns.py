"""Long work on the event loop, in parts: everything else has its turn between them."""

import asyncio

MAX_TURN_SECONDS = 0.05
"""Time of one turn of the event loop after which work of many parts lets others go on."""


class SharedTurns:
    """Divides the turns of one event loop among all tasks that ask before each part of their work.

    Tasks that are ready run one after the other in one turn: the bound is for all of them together.
    """

    def __init__(self) -> None:
        self._ends_at: float | None = None  # of this turn, by the loop's clock; None: no part yet

    async def share(self) -> None:
        """Return when the next part may begin: at once, or after others have gone on."""
        loop = asyncio.get_running_loop()
        while self._ends_at is not None and loop.time() > self._ends_at:  # noqa: ASYNC110  # others
            await asyncio.sleep(0)
        if self._ends_at is None:
            self._ends_at = loop.time() + MAX_TURN_SECONDS
            loop.call_soon(self._end)

    def _end(self) -> None:
        self._ends_at = None
