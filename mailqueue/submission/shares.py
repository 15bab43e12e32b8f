"""Counts the connections of each project, so that one leaves places for others."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from uuid import UUID


class ConnectionShares:
    """The connections that are logged in, by project, on all ports of a process."""

    def __init__(self, most: int) -> None:
        """Prepare; a project has at most `most` connections."""
        self._most = most
        self._by_project: Counter[UUID] = Counter()

    def enter(self, project_id: UUID) -> Callable[[], None] | None:
        """Count a connection, and return what ends it, to be called once; None: there are too
        many.
        """
        if self._by_project[project_id] >= self._most:
            return None
        self._by_project[project_id] += 1
        return partial(self._leave, project_id)

    def _leave(self, project_id: UUID) -> None:
        self._by_project[project_id] -= 1
        if not self._by_project[project_id]:
            del self._by_project[project_id]
