"""Concurrency of one queue in one process: slots, and the rows that wait for one, by key."""

import asyncio
import random
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic
from uuid import UUID

from mailqueue.queue.rows import Row
from mailqueue.telemetry.log import get_logger

FIRST_ROWS = 1
"""Rows of a key that are handled at the same time at first; each that is answered adds one."""
MAX_SHARE = 4
"""Part of the slots, 1 of this number, that one key may hold at most."""
MAX_WAITING_PER_SLOT = 64
"""Rows of all keys that wait in memory, for each slot."""
WAITING_PER_ROW = 4
"""Rows of a key that wait in memory, for each that may be handled at the same time."""
STALLED_SECONDS = 3.0
"""Time after which a row of a key gives its slot to others; its handling goes on without one."""
MAX_STALLED_PER_SLOT = 4
"""Rows of all keys that are handled without a slot, for each slot."""
CANCEL_SECONDS = 5.0
"""Limit of the wait for cancelled rows to end."""
FORGET_SECONDS = 120.0
"""Time after which an idle key is forgotten; then it is unproven again."""

log = get_logger(__name__)


@dataclass(slots=True)
class _Key(Generic[Row]):
    limit: int
    is_unproven: bool
    project: object  # None: its rows name none
    used_at: float
    waiting: deque[tuple[float, Row]] = field(default_factory=deque)
    running: int = 0
    doubts: set[UUID] = field(default_factory=set)  # rows without a success that are not settled
    may_have_more: bool = False  # due rows that the last claim left

    @property
    def is_idle(self) -> bool:
        return not self.waiting and not self.running and not self.doubts


@dataclass(slots=True)
class _Slot:
    """A slot that a row has; `project` is that of its key."""

    project: object
    is_unproven: bool
    is_given_up: bool = False  # the row is handled without it
    timer: asyncio.TimerHandle | None = None  # after which it is given up; None: rows have no keys


class Dispatcher(Generic[Row]):
    """Starts the handling of claimed rows as slots allow.

    Without keys all rows share the slots. With keys each has a limit of its own, which grows while
    its rows are answered; keys take turns in random order, so that none is always last. Keys
    without a recent success are unproven: together they hold at most half of the slots, so that
    slow and silent ones never take those of keys that are answered. Within that half the
    unproven keys of one project hold at most as many slots as remain free. A row that takes long
    gives its slot to others, so that those wait seconds, not until it ends.
    """

    def __init__(
        self,
        concurrency: int,
        handle: Callable[[Row], Awaitable[bool]],
        *,
        key_of: Callable[[Row], str] | None,
        expired: Callable[[Row], None],
        max_wait: float,
        wants_more: Callable[[], None],
    ) -> None:
        """Prepare; `handle` returns whether the key was answered, `expired` receives rows that
        waited longer than `max_wait` seconds, `wants_more` is called when fewer rows wait than may
        be handled at once and more may be due.
        """
        self._limit = concurrency
        self._taken = 0  # slots
        self._unproven = Counter[object]()  # slots that unproven keys have taken, by project
        self._stalled = Counter[object]()  # rows that are handled without a slot, by project
        self._handle = handle
        self._key_of = key_of
        self._expired = expired
        self._max_wait = max_wait
        self._wants_more = wants_more
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
        held = self._taken + sum(len(key.waiting) for key in self._keys.values())
        # Rows of keys that are not answered leave room for those of others.
        per_slot = WAITING_PER_ROW if self._key_of is None else MAX_WAITING_PER_SLOT
        return max(0, self._limit * per_slot - held)

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
        if self._was_cut and sum(len(key.waiting) for key in self._keys.values()) < self._limit:
            return True
        return any(
            key.may_have_more and not key.doubts and len(key.waiting) < key.limit
            for key in self._keys.values()
        )

    def add(self, rows: Sequence[Row], rooms: Mapping[str, int], limit: int) -> None:
        """Queue rows that a claim of at most `limit` took, and start those that find a slot.

        `rooms` are how many of each key the claim might take. A key that it filled may have more.
        """
        self._was_cut = len(rows) >= limit
        now, counts = asyncio.get_running_loop().time(), Counter[str]()
        for row in rows:
            name = "" if self._key_of is None else self._key_of(row)
            key = self._keys.get(name) or self._new_key(name)
            key.project = getattr(row, "project_id", None)
            key.used_at = now
            key.waiting.append((now, row))
            counts[name] += 1
        if self._key_of is not None:
            share = max(1, limit // max(1, len(counts)))
            for name in {*counts, *(name for name, room in rooms.items() if room)}:
                room = rooms.get(name, FIRST_ROWS * WAITING_PER_ROW)
                key = self._keys.get(name) or self._new_key(name)
                key.may_have_more = counts[name] >= min(room, share)
        self.start()

    def start(self, only: _Key[Row] | None = None) -> None:
        """Start as many rows as slots and limits allow, of all keys or of one."""
        if self._is_closed:
            return
        waiting = [only] if only else [key for key in self._keys.values() if key.waiting]
        if only is None:
            random.shuffle(waiting)
            # Keys of a project that waits for answers of others come after those of other projects.
            waiting.sort(key=lambda key: self._unproven[key.project] + self._stalled[key.project])
            self._lacks_slots = False
        for key in waiting:
            # A failure is settled first: it may block the key.
            while key.waiting and key.running < key.limit and not key.doubts:
                is_free = self._taken < self._limit
                if not is_free or (key.is_unproven and not self._has_unproven_slot(key)):
                    self._lacks_slots = True
                    break
                self._taken += 1
                self._unproven[key.project] += key.is_unproven
                claimed_at, row = key.waiting.popleft()
                key.running += 1
                slot = _Slot(key.project, key.is_unproven)
                task = asyncio.create_task(self._run(key, row, claimed_at, slot))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    def _has_unproven_slot(self, key: _Key[Row]) -> bool:
        """Return whether one of the slots of unproven keys is free for this one's project."""
        free = max(1, self._limit // 2) - self._unproven.total()
        return free > 0 and (key.project is None or self._unproven[key.project] < free)

    def _free(self, slot: _Slot) -> None:
        """Release the slot of a row."""
        self._taken -= 1
        self._unproven[slot.project] -= slot.is_unproven
        if not self._unproven[slot.project]:
            del self._unproven[slot.project]

    def _give_up(self, slot: _Slot) -> None:
        """Release the slot of a row that takes long, unless too many such rows go on."""
        free = self._limit * MAX_STALLED_PER_SLOT - self._stalled.total()
        if free <= 0 or (slot.project is not None and self._stalled[slot.project] >= free):
            self._watch(slot)
            return
        slot.is_given_up = True
        self._stalled[slot.project] += 1
        self._free(slot)
        self.start()
        if self.is_short:
            self._wants_more()

    def _watch(self, slot: _Slot) -> None:
        loop = asyncio.get_running_loop()
        slot.timer = loop.call_later(STALLED_SECONDS, self._give_up, slot)

    async def _run(self, key: _Key[Row], row: Row, claimed_at: float, slot: _Slot) -> None:
        """Handle a row in the slot that it has."""
        loop = asyncio.get_running_loop()
        if self._key_of is not None:
            self._watch(slot)
        try:
            if loop.time() - claimed_at > self._max_wait:
                self._expired(row)
                return
            is_answered = await self._handle(row)
            key.used_at = loop.time()
            if self._key_of is None:
                return
            if is_answered:
                longest = max(FIRST_ROWS, self._limit // MAX_SHARE)
                key.limit, key.is_unproven = min(longest, key.limit + 1), False
            else:
                key.limit, key.is_unproven = FIRST_ROWS, True
                key.doubts.add(row.id)
        finally:
            key.running -= 1
            if slot.timer is not None:
                slot.timer.cancel()
            if slot.is_given_up:
                self._stalled[slot.project] -= 1
                if not self._stalled[slot.project]:
                    del self._stalled[slot.project]
            else:
                self._free(slot)
            self.start(None if self._lacks_slots else key)
            if self.is_short:
                self._wants_more()

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
        if self.is_short:
            self._wants_more()

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
        oldest = asyncio.get_running_loop().time() - FORGET_SECONDS
        for name, key in list(self._keys.items()):
            if key.is_idle and key.used_at < oldest:
                del self._keys[name]

    def _new_key(self, name: str) -> _Key[Row]:
        has_keys = self._key_of is not None
        limit = FIRST_ROWS if has_keys else self._limit
        now = asyncio.get_running_loop().time()
        key = self._keys[name] = _Key(limit, has_keys, None, now)
        return key
