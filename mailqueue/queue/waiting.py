"""Results that wait to be written: the keys of a queue take turns, one row each."""

from collections import deque
from typing import Generic, NamedTuple
from uuid import UUID

from mailqueue.core.outcome import Outcome
from mailqueue.core.queues.model import QueueSpec
from mailqueue.queue.handler import Work
from mailqueue.queue.rows import Row


class Handled(NamedTuple, Generic[Row, Work]):
    """A row and the result of its handler; `size` is its part of a commit's room."""

    row: Row
    result: Outcome | Work
    size: int


class WaitingResults(Generic[Row, Work]):
    """The results of one queue that are not written yet; its length is their number."""

    def __init__(self, spec: QueueSpec) -> None:
        """Prepare; rows of a queue without a key are written in the order in which they ended."""
        self._key = spec.key
        self._of = dict[object, deque[Handled[Row, Work]]]()
        self._turns = deque[object]()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, one: Handled[Row, Work]) -> None:
        """Queue a result behind those of its key."""
        key = None if self._key is None else getattr(one.row, self._key)
        if key not in self._of:
            self._of[key] = deque()
            self._turns.append(key)
        self._of[key].append(one)
        self._count += 1

    def take(self, room: int) -> list[Handled[Row, Work]]:
        """Return the next results that fit in one commit, at least one, each row once."""
        group, size, ids = list[Handled[Row, Work]](), 0, set[UUID]()
        while self._turns:
            rows = self._of[self._turns[0]]
            one = rows[0]
            size += one.size
            if group and (size > room or one.row.id in ids):
                break
            group.append(rows.popleft())
            ids.add(one.row.id)
            key = self._turns.popleft()
            if rows:
                self._turns.append(key)
            else:
                del self._of[key]
        self._count -= len(group)
        return group
