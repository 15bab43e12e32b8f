"""Concurrency of one queue in one process: slots, and the rows that wait for one, by key."""

import asyncio
import random
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic
from uuid import UUID

from mailqueue.queue.handler import Row
from mailqueue.telemetry.log import get_logger

FIRST_ROWS = 1
"""Rows of a key that are handled at the same time at first; each that is answered adds one."""
MAX_SHARE = 4
"""Part of the slots, 1 of this number, that one key may hold at most."""
MAX_WAITING_PER_SLOT = 64
"""Rows of all keys that wait in memory, for each slot."""
WAITING_PER_ROW = 4
"""Rows of a key that wait in memory, for each that may be handled at the same time."""
CANCEL_SECONDS = 5.0
"""Limit of the wait for cancelled rows to end."""
FORGET_SECONDS = 120.0
"""Time after which an idle key is forgotten; then it is unproven again."""

log = get_logger(__name__)


@dataclass(slots=True)
class Slots:
    """A fixed number of slots; a key without a recent success is unproven.

    Unproven keys together hold at most half of the slots, so that slow and silent ones never take
    those of keys that are answered.
    """

    limit: int
    taken: int = 0
    unproven: int = 0

    def take(self, *, is_unproven: bool) -> bool:
        """Take a slot; return False when none is free."""
        if self.taken >= self.limit:
            return False
        if is_unproven:
            if self.unproven >= max(1, self.limit // 2):
                return False
            self.unproven += 1
        self.taken += 1
        return True

    def give_back(self, *, was_unproven: bool) -> None:
        """Free a slot, taken by an unproven key or not."""
        self.taken -= 1
        self.unproven -= was_unproven


@dataclass(slots=True)
class _Key(Generic[Row]):
    limit: int
    is_unproven: bool
    used_at: float
    waiting: deque[tuple[float, Row]] = field(default_factory=deque)
    running: int = 0
    doubts: set[UUID] = field(default_factory=set)  # rows without a success that are not settled
    may_have_more: bool = False  # due rows that the last claim left

    @property
    def is_idle(self) -> bool:
        return not self.waiting and not self.running and not self.doubts


class Dispatcher(Generic[Row]):
    """Starts the handling of claimed rows as slots allow.

    Without keys all rows share the slots. With keys each has a limit of its own, which grows while
    its rows are answered; keys take turns in random order, so that none is always last.
    """

    def __init__(
        self,
        concurrency: int,
        handle: Callable[[Row], Awaitable[bool]],
        *,
        key_of: Callable[[Row], str] | None,
        expired: Callable[[Row], None],
        max_wait: float,
        freed: Callable[[], None],
    ) -> None:
        """Prepare; `handle` returns whether the key was answered, `expired` receives rows that
        waited longer than `max_wait` seconds, `freed` is called when a slot becomes free.
        """
        self._slots = Slots(concurrency)
        self._handle = handle
        self._key_of = key_of
        self._expired = expired
        self._max_wait = max_wait
        self._freed = freed
        self._keys: dict[str, _Key[Row]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._was_cut = False  # whether the last claim took as many rows as it might
        self._lacks_slots = False  # whether a row waits for a slot, not for its key
        self._is_closed = False

    @property
    def is_idle(self) -> bool:
        """Return whether nothing waits and nothing is handled."""
        return not self._tasks and all(not key.waiting for key in self._keys.values())

    @property
    def room(self) -> int:
        """Return how many more rows may be claimed."""
        held = self._slots.taken + sum(len(key.waiting) for key in self._keys.values())
        # Rows of keys that are not answered leave room for those of others.
        per_slot = WAITING_PER_ROW if self._key_of is None else MAX_WAITING_PER_SLOT
        return max(0, self._slots.limit * per_slot - held)

    def rooms(self) -> dict[str, int]:
        """Return how many more rows of each known key may be claimed."""
        return {
            name: 0 if key.doubts else max(0, key.limit * WAITING_PER_ROW - len(key.waiting))
            for name, key in self._keys.items()
        }

    @property
    def is_short(self) -> bool:
        """Return whether fewer rows wait than may be handled at once, and more may be due."""
        if not self.room:
            return False
        if self._was_cut and sum(len(key.waiting) for key in self._keys.values()) < (
            self._slots.limit
        ):
            return True
        return any(
            key.may_have_more and not key.doubts and len(key.waiting) < key.limit
            for key in self._keys.values()
        )

    def claimed(self, rows: Sequence[Row], rooms: Mapping[str, int], limit: int) -> None:
        """Note what a claim of at most `limit` rows left: those of keys whose `rooms` it filled."""
        self._was_cut = len(rows) >= limit
        if self._key_of is None:
            return
        counts = Counter(self._key_of(row) for row in rows)
        share = max(1, limit // max(1, len(counts)))
        for name in {*counts, *(name for name, room in rooms.items() if room)}:
            key = self._key(name)
            room = rooms.get(name, FIRST_ROWS * WAITING_PER_ROW)
            key.may_have_more = counts[name] >= min(room, share)

    def add(self, rows: Sequence[Row]) -> None:
        """Queue claimed rows and start those that find a slot."""
        now = self._now()
        for row in rows:
            key = self._key(self._key_of(row) if self._key_of is not None else "")
            key.used_at = now
            key.waiting.append((now, row))
        self.start()

    def start(self) -> None:
        """Start as many rows as slots and limits allow."""
        waiting = [key for key in self._keys.values() if key.waiting]
        random.shuffle(waiting)
        self._lacks_slots = False
        for key in waiting:
            self._start_of(key)

    def _start_of(self, key: _Key[Row]) -> None:
        if self._is_closed:
            return
        # A failure is settled first: it may block the key.
        while key.waiting and key.running < key.limit and not key.doubts:
            if not self._slots.take(is_unproven=key.is_unproven):
                self._lacks_slots = True
                break
            self._start(key)

    def give_back(self) -> list[Row]:
        """Return the rows that wait, which are no longer dispatched."""
        back = [row for key in self._keys.values() for _, row in key.waiting]
        for key in self._keys.values():
            key.waiting.clear()
        return back

    def give_back_of(self, name: str) -> list[Row]:
        """Return the waiting rows of one key, which becomes unproven."""
        key = self._keys.get(name)
        if key is None:
            return []
        back = [row for _, row in key.waiting]
        key.waiting.clear()
        key.limit, key.is_unproven = FIRST_ROWS, True
        return back

    def settled(self, rows: Sequence[Row]) -> None:
        """Start more rows of keys whose failures are settled now."""
        if self._key_of is None:
            return
        for row in rows:
            key = self._keys.get(self._key_of(row))
            if key is not None:
                key.doubts.discard(row.id)
        self.start()

    async def drained(self) -> None:
        """Wait until what is being handled has ended."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def close(self) -> None:
        """Start nothing more, and cancel what is being handled; its outcomes are unknown."""
        self._is_closed = True
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            _, left = await asyncio.wait(self._tasks, timeout=CANCEL_SECONDS)
            if left:
                log.error("queue.not_cancelled", count=len(left))

    def forget_idle(self) -> None:
        """Forget keys without rows for a while."""
        oldest = self._now() - FORGET_SECONDS
        for name, key in list(self._keys.items()):
            if key.is_idle and key.used_at < oldest:
                del self._keys[name]

    def _key(self, name: str) -> _Key[Row]:
        key = self._keys.get(name)
        if key is None:
            has_keys = self._key_of is not None
            limit = FIRST_ROWS if has_keys else self._slots.limit
            key = self._keys[name] = _Key(limit, has_keys, self._now())
        return key

    def _start(self, key: _Key[Row]) -> None:
        claimed_at, row = key.waiting.popleft()
        was_unproven = key.is_unproven
        key.running += 1
        task = asyncio.create_task(self._handled(key, row, claimed_at))
        self._tasks.add(task)

        def ended(task: asyncio.Task[None]) -> None:
            self._tasks.discard(task)
            key.running -= 1
            self._slots.give_back(was_unproven=was_unproven)
            self._freed()
            if self._lacks_slots:
                self.start()
            else:
                self._start_of(key)

        task.add_done_callback(ended)

    async def _handled(self, key: _Key[Row], row: Row, claimed_at: float) -> None:
        if self._now() - claimed_at > self._max_wait:
            self._expired(row)
            return
        is_answered = await self._handle(row)
        if self._key_of is None:
            return
        key.used_at = self._now()
        if is_answered:
            most = max(FIRST_ROWS, self._slots.limit // MAX_SHARE)
            key.limit, key.is_unproven = min(most, key.limit + 1), False
        else:
            key.limit, key.is_unproven = FIRST_ROWS, True
            key.doubts.add(row.id)

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()
