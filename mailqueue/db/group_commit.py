"""Group commit: callers that wait at the same time share one transaction.

A commit costs about the same for one row as for many, and is most of the cost of a small write. A
group consists of the items submitted since the last group began, so a single caller does not wait
for others. Callers receive their answers after the commit.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from mailqueue.core.errors import Unavailable
from mailqueue.telemetry.metrics.declared import GROUP_COMMITS, GROUP_ITEMS
from mailqueue.telemetry.metrics.memory import MEMORY

Item = TypeVar("Item")
Answer = TypeVar("Answer")

STOPPED = "this process is stopping, try again"


class Size(NamedTuple):
    """What an item adds to its group."""

    rows: int = 1
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class GroupLimits:
    """Bounds of groups; an item that exceeds one by itself is a group of its own."""

    rows: int = 100
    """Rows in a group."""
    bytes: int | None = None
    """Bytes in a group; None: no bound."""
    commits: int = 1
    """Groups written at once. Another is begun only for a full group, so that groups grow first."""
    waiting: int | None = None
    """Callers that wait; further ones are refused. None: no bound."""


@dataclass(eq=False, slots=True)
class Waiter(Generic[Item, Answer]):
    """An item, and the caller that waits for its answer."""

    item: Item
    answer: asyncio.Future[Answer] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    @property
    def is_answered(self) -> bool:
        """Return whether the caller has an answer or an error, or was cancelled."""
        return self.answer.done()

    def succeed(self, answer: Answer) -> None:
        """Set the caller's answer; call it after the commit."""
        if not self.answer.done():
            self.answer.set_result(answer)

    def fail(self, fault: Exception) -> None:
        """Raise `fault` in the caller."""
        if not self.answer.done():
            self.answer.set_exception(fault)


Write = Callable[[Sequence[Waiter[Item, Answer]]], Awaitable[None]]
"""Writes a group, and after the commit answers each waiter."""


class GroupCommit(Generic[Item, Answer]):
    """Writes the items of many callers in few transactions.

    Where writing a group raises, its items that have no answer are written one by one, so that each
    caller receives the error of its own item. `Unavailable` concerns all: nothing is written again.
    """

    def __init__(
        self,
        write: Write[Item, Answer],
        *,
        name: str,
        limits: GroupLimits,
        size: Callable[[Item], Size] = lambda _item: Size(),
    ) -> None:
        self._write = write
        self._name = name
        self._limits = limits
        self._size = size
        self._waiting: deque[Waiter[Item, Answer]] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._running = 0
        self._is_closed = False

    async def submit(self, item: Item) -> Answer:
        """Write an item together with those of other callers; return its answer.

        A caller that is cancelled before its group is begun has written nothing.

        Raises:
            Unavailable: the database is away, too many callers wait, or the process stops.
            Exception: what writing this item raised.
        """
        if self._is_closed:
            raise Unavailable(STOPPED)
        waiting, limits = self._waiting, self._limits
        if limits.waiting is not None and len(waiting) >= limits.waiting:
            raise Unavailable(
                f"{self._name}: {limits.waiting} requests are already waiting, try again"
            )
        waiter: Waiter[Item, Answer] = Waiter(item)
        waiting.append(waiter)
        if self._running < min(limits.commits, 1 + len(waiting) // limits.rows):
            self._running += 1
            task = asyncio.create_task(self._run(), name=self._name)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return await waiter.answer

    async def submit_alone(self, item: Item) -> Answer:
        """Write an item in a transaction of its own; return its answer.

        For items that may wait for a lock or take long, which no other caller should share.
        """
        waiter: Waiter[Item, Answer] = Waiter(item)
        await self._write([waiter])
        return waiter.answer.result()

    async def aclose(self) -> None:
        """Stop: callers that wait, also those of groups being written, receive `Unavailable`."""
        self._is_closed = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self) -> None:
        try:
            while group := self._next_group():
                await self._commit(group)
        finally:
            # In the step that found no waiter: the next caller starts a new task.
            self._running -= 1
            if self._running == 0:
                _stop(self._waiting)  # no waiters, unless this task was cancelled

    def _next_group(self) -> list[Waiter[Item, Answer]]:
        group: list[Waiter[Item, Answer]] = []
        rows = bytes_ = 0
        limits = self._limits
        while self._waiting:
            waiter = self._waiting[0]
            if not waiter.is_answered:  # else its caller was cancelled
                size = self._size(waiter.item)
                rows += size.rows
                bytes_ += size.bytes
                is_full = rows > limits.rows or bytes_ > (limits.bytes or bytes_)
                if group and is_full:
                    break
                group.append(waiter)
            self._waiting.popleft()
        return group

    async def _commit(self, group: Sequence[Waiter[Item, Answer]]) -> None:
        try:
            fault = await self._fault_of(group)
            if fault is None:
                return
            for waiter in group:
                is_tried_alone = len(group) > 1 and not isinstance(fault, Unavailable)
                if is_tried_alone and not waiter.is_answered:
                    fault = await self._fault_of([waiter]) or fault
                waiter.fail(fault)
        finally:
            _stop(group)  # no waiters, unless this task was cancelled

    async def _fault_of(self, group: Sequence[Waiter[Item, Answer]]) -> Exception | None:
        """Write a group; return what it raised."""
        try:
            await self._write(group)
        except Exception as exc:
            return exc
        MEMORY.record(GROUP_COMMITS, 1)
        MEMORY.record(GROUP_ITEMS, len(group))
        return None


def _stop(waiters: Sequence[Waiter[Item, Answer]]) -> None:
    for waiter in waiters:
        waiter.fail(Unavailable(STOPPED))
