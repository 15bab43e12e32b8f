"""Knows for how long a server that was asked something has said nothing, on any connection."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class Silence:
    """The questions of one line that are open, and when its server last said something."""

    def __init__(self) -> None:
        self._asked_at: dict[object, float] = {}
        self._heard_at = 0.0

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Wait for the server in the block."""
        question = object()
        self._asked_at[question] = _now()
        try:
            yield
        finally:
            del self._asked_at[question]

    def __len__(self) -> int:
        """Say how many questions are open."""
        return len(self._asked_at)

    def heard(self) -> None:
        """Note that the server has said something."""
        self._heard_at = _now()

    def seconds(self) -> float:
        """Give how long it has been silent; 0 while it is asked nothing."""
        if not self._asked_at:
            return 0.0
        return _now() - max(self._heard_at, min(self._asked_at.values()))


def _now() -> float:
    return asyncio.get_running_loop().time()
