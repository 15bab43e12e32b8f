"""Results that wait to be written: the keys of a queue take turns, one row each."""

from collections import deque
from collections.abc import MutableMapping
from typing import Generic, NamedTuple
from uuid import UUID

from mailqueue.core.outcome import Outcome
from mailqueue.queue.handler import Work
from mailqueue.queue.rows import Row


class Handled(NamedTuple, Generic[Row, Work]):
    """A row and the result of its handler; `size` is its part of a commit's room."""

    row: Row
    result: Outcome | Work
    size: int


def next_group(
    waiting: MutableMapping[object, deque[Handled[Row, Work]]], room: int
) -> list[Handled[Row, Work]]:
    """Take the next results that fit in one commit, at least one, each row once.

    `waiting` has the results of each key in the order in which they ended, and the keys in that of
    their turns. Changes it.
    """
    group, size, ids = list[Handled[Row, Work]](), 0, set[UUID]()
    while waiting:
        key = next(iter(waiting))
        rows = waiting[key]
        size += rows[0].size
        if group and (size > room or rows[0].row.id in ids):
            break
        group.append(rows.popleft())
        ids.add(group[-1].row.id)
        del waiting[key]
        if rows:
            waiting[key] = rows  # behind all others
    return group
