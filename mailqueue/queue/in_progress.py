"""Rows whose handling has begun, and metrics, in memory that the parent process shares.

When a process dies, its parent reads here which rows it was handling, without a write for each row:
a memory file outlives kill -9 for as long as the parent holds it open.
"""

import asyncio
import math
import mmap
import os
import struct
import time
from array import array
from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from mailqueue.telemetry.metrics.memory import BYTES

SLOTS = 4096
"""Rows that are noted at the same time; further ones are not noted."""
TURN_SECONDS = 0.5
"""Interval at which the event loop shows that it turns."""
EXIT_OUT_OF_MEMORY = 86
"""Exit code of a process whose memory is bounded and was not enough for the row it handled."""
EXIT_BUILD_TOO_LONG = 87
"""Exit code of a process whose thread did not end building the message of an email."""
EXIT_UNKNOWN = 88
"""Stands for the exit code of a process whose parent ended before it."""
EXIT_REASONS = {
    EXIT_OUT_OF_MEMORY: "it needed more memory than a process may take that handles one row",
    EXIT_BUILD_TOO_LONG: "its message was not built in time",
    EXIT_UNKNOWN: "its exit code is unknown",
}
_HEADER = struct.Struct("=dq")  # monotonic seconds of the last turn; slot of the row in a long step
_SLOT = struct.Struct("=16sq32sd")  # id, claim number, queue, monotonic seconds of the begin
_STEP, _STEP_AT = struct.Struct("=q"), 8  # the header's slot
_EMPTY = bytes(_SLOT.size)
_METRICS_AT = _HEADER.size + SLOTS * _SLOT.size
_NO_SLOT = -1


class Begun(NamedTuple):
    """A row whose handling has begun, and for how long it has been handled."""

    queue: str
    id: UUID
    claim_no: int
    seconds: float


class InProgress:
    """The rows that one process is handling."""

    def __init__(self, fd: int | None = None) -> None:
        """Map the memory file `fd`; None makes one."""
        self.fd = os.memfd_create("mailqueue-in-progress") if fd is None else fd
        size = _METRICS_AT + BYTES
        os.ftruncate(self.fd, size)
        self._map = mmap.mmap(self.fd, size)
        self._free = list(range(SLOTS - 1, -1, -1))

    def clear(self) -> None:
        """Forget all rows and metrics, for the next process."""
        self._map[:] = bytes(len(self._map))
        _HEADER.pack_into(self._map, 0, 0.0, _NO_SLOT)

    def close(self) -> None:
        """Unmap and close the memory file."""
        self._map.close()
        os.close(self.fd)

    # The process that handles rows.

    def metrics(self) -> memoryview:
        """Return the memory in which the process counts its metrics; it keeps the file open."""
        return memoryview(self._map)[_METRICS_AT:]

    def turn(self) -> None:
        """Note that the event loop turns."""
        struct.pack_into("=d", self._map, 0, time.monotonic())

    async def turn_forever(self) -> None:
        """Note that the event loop turns, until cancelled."""
        while True:
            self.turn()
            await asyncio.sleep(TURN_SECONDS)

    def begin(self, queue: str, row_id: UUID, claim_no: int, *, is_timed: bool = True) -> int:
        """Note that a row is being handled; return its slot, -1 where all are taken.

        Without `is_timed` it may take as long as the server needs, such as to write its outcome.
        """
        if not self._free:
            return _NO_SLOT
        slot = self._free.pop()
        begun_at = time.monotonic() if is_timed else math.inf
        values = (row_id.bytes, claim_no, queue.encode()[:32], begun_at)
        _SLOT.pack_into(self._map, _HEADER.size + slot * _SLOT.size, *values)
        return slot

    def end(self, slot: int) -> None:
        """Note that a row is no longer being handled."""
        if slot == _NO_SLOT:
            return
        at = _HEADER.size + slot * _SLOT.size
        self._map[at : at + _SLOT.size] = _EMPTY
        self._free.append(slot)

    def begin_step(self, slot: int) -> None:
        """Note which row keeps the event loop from turning, until `end_step`."""
        _STEP.pack_into(self._map, _STEP_AT, slot)

    def end_step(self) -> None:
        """Note that no row keeps the event loop from turning."""
        _STEP.pack_into(self._map, _STEP_AT, _NO_SLOT)

    # The parent.

    def read_metrics(self) -> Sequence[float]:
        """Return what the process has counted."""
        return array("d", self._map[_METRICS_AT:])

    def seconds_since_turn(self) -> float | None:
        """Return how long ago the event loop turned; None before its first turn."""
        turned_at, _ = _HEADER.unpack_from(self._map, 0)
        return time.monotonic() - turned_at if turned_at else None

    def rows(self) -> list[Begun]:
        """Return the rows that are being handled, the likeliest to end the process first.

        That is the row in a long step, then those whose handling began last, then those that are
        loaded or written.
        """
        _, current = _HEADER.unpack_from(self._map, 0)
        taken = [(slot, *found) for slot in range(SLOTS) if (found := self._read(slot)) is not None]
        taken.sort(key=lambda one: (one[0] != current, one[1] == math.inf, -one[1]))
        return [row for _, _, row in taken]

    def _read(self, slot: int) -> tuple[float, Begun] | None:
        """Return when the handling of the slot's row began, and the row; None: the slot is free."""
        at = _HEADER.size + slot * _SLOT.size
        if self._map[at : at + _SLOT.size] == _EMPTY:
            return None
        row_id, claim_no, queue, begun_at = _SLOT.unpack_from(self._map, at)
        seconds = max(0.0, time.monotonic() - begun_at)
        row = Begun(queue.rstrip(b"\0").decode(), UUID(bytes=row_id), claim_no, seconds)
        return begun_at, row
