"""One worker process: its start, the watch on its event loop, and how it ended."""

import asyncio
import signal
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from mailqueue.core.queues.registry import QUEUES
from mailqueue.process.starting.client import Fork, ForkServer
from mailqueue.queue.heartbeat import HUNG_SECONDS
from mailqueue.queue.in_progress import EXIT_REASONS, InProgress
from mailqueue.settings.environment import Settings
from mailqueue.telemetry.log import get_logger

STALLED_SECONDS = 2.0
"""Time without a turn of its event loop after which a process is ended, so that the mail and rows
of others go on; time in which it waited for a processor or was stopped is not counted. The longest
turn of honest work is half a second: that of a thread that encodes a message of 25 MB."""
OVERDUE_SECONDS = 30.0
"""Time beyond its queue's limit after which a row that is still being handled ends its process."""
DRAIN_SECONDS = 45.0
"""Time for a child to drain before it is killed; its own drain ends sooner."""
CHECK_SECONDS = 0.5
"""Interval at which a child's event loop is looked at."""
ROWS_SECONDS = 5.0
"""Interval at which the rows of a child are looked at, of which there may be thousands."""
FROZEN_SECONDS = 2.0
"""A longer gap between two checks is not charged to the child: the host was suspended."""
MAX_GAP_SECONDS = 10.0
"""A gap between two checks after which the host counts as suspended."""
MAX_NAMED = 20
"""Rows that a log line names."""
_LIMITS = {spec.name: spec.time_limit.total_seconds() for spec in QUEUES}
_SIGNALS = {one.value: one.name for one in signal.Signals}

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Children:
    """Processes of one command line, `mailqueue worker ARGUMENTS`; they handle `queues`."""

    arguments: Sequence[str]
    count: int = 1
    queues: Sequence[str] = ()
    stalled_seconds: float | None = None
    """Time without a turn of the event loop after which a process is ended; None: HUNG_SECONDS."""


@dataclass(frozen=True, slots=True)
class ChildEnding:
    """How a child ended."""

    code: int
    why: str | None

    @property
    def words(self) -> str:
        """Return the reason for people."""
        if self.why is not None:
            return self.why
        if self.code in EXIT_REASONS:
            return EXIT_REASONS[self.code]
        if self.code < 0:
            return f"signal {_SIGNALS.get(-self.code, -self.code)}"
        return f"exit code {self.code}"


async def start_child(
    forks: ForkServer,
    settings: Settings,
    group: Children,
    launch_id: UUID,
    in_progress: InProgress,
    *,
    flag: str | None,
) -> Fork:
    """Start a process of the group, which notes its rows in `in_progress`.

    Raises:
        OSError: no process can be started now.
    """
    arguments = [
        *group.arguments,
        f"--child={launch_id}",
        *([flag] if flag is not None else []),
        f"--data={settings.data}",
        *([f"--public-url={url}"] if (url := settings.tracking.public_url) else []),
    ]
    return await forks.start(arguments, in_progress.fd)


class Watch:
    """Looks at a process from outside: how long its event loop stands still by its own fault."""

    def __init__(self, pid: int, in_progress: InProgress, *, stalled_seconds: float | None) -> None:
        self._pid = pid
        self._in_progress = in_progress
        self._stalled_seconds = stalled_seconds
        self._checked_at = asyncio.get_running_loop().time()
        self._rows_checked_at = 0.0
        self._silence: float | None = None  # at the last look; None before the first turn
        self._delay = _delay_of(pid)
        # Since the last turn, time in which the host or the process was stopped.
        self._excused = 0.0

    def fault(self) -> str | None:
        """Return why the process is to be ended now, or None; called every CHECK_SECONDS."""
        last_at, self._checked_at = self._checked_at, asyncio.get_running_loop().time()
        gap = self._checked_at - last_at
        if gap > MAX_GAP_SECONDS:
            self._in_progress.turn()  # this process stood still as well, as its host may have
        silence = self._in_progress.seconds_since_turn()
        if silence is None:
            return None
        if self._silence is None or silence < self._silence:  # it has turned, or begun to
            self._delay, self._excused = _delay_of(self._pid), 0.0
        self._silence = silence
        if gap > FROZEN_SECONDS:
            self._excused += gap
        elif silence > 2 * CHECK_SECONDS and _is_stopped(self._pid):
            self._excused = silence
        if silence > HUNG_SECONDS or self._is_stalled(silence):
            return f"its event loop did not turn for {silence:.0f} s"
        if self._checked_at < self._rows_checked_at + ROWS_SECONDS:
            return None
        self._rows_checked_at = self._checked_at
        for row in self._in_progress.rows():
            limit = _LIMITS.get(row.queue)
            if limit is not None and row.seconds > limit + OVERDUE_SECONDS:
                return f"its handling did not end within its limit of {limit:.0f} s"
        return None

    def _is_stalled(self, silence: float) -> bool:
        if self._stalled_seconds is None or silence <= self._stalled_seconds:
            return False
        delay = _delay_of(self._pid)
        if delay is None or self._delay is None:
            return False  # unknown on this system
        return silence - (delay - self._delay) - self._excused > self._stalled_seconds


async def ending_of(
    child: Fork,
    stop: asyncio.Event,
    in_progress: InProgress,
    *,
    stalled_seconds: float | None,
) -> ChildEnding:
    """Wait for the child to end; terminate it once `stop` is set, kill it when late or hung."""
    ended = asyncio.create_task(child.wait())
    stopping = asyncio.create_task(stop.wait())
    watch = Watch(child.pid, in_progress, stalled_seconds=stalled_seconds)
    why = None
    while not ended.done() and not stopping.done():
        await asyncio.wait(
            (ended, stopping), timeout=CHECK_SECONDS, return_when=asyncio.FIRST_COMPLETED
        )
        if not ended.done() and (why := watch.fault()) is not None:
            rows = [f"{row.queue} {row.id}" for row in in_progress.rows()[:MAX_NAMED]]
            log.error("worker.hung", pid=child.pid, why=why, rows=rows)
            child.kill()
            break
    stopping.cancel()
    if not ended.done() and why is None:
        child.terminate()
        _, late = await asyncio.wait((ended,), timeout=DRAIN_SECONDS)
        if late:
            child.kill()
    return ChildEnding(await ended, why)


def _delay_of(pid: int) -> float | None:
    """Return the seconds for which the main thread waited for a processor; None if unknown."""
    with suppress(OSError, ValueError, IndexError):
        text = Path(f"/proc/{pid}/task/{pid}/schedstat").read_text("ascii")
        return int(text.split()[1]) / 1e9
    return None


def _is_stopped(pid: int) -> bool:
    """Return whether the process was stopped by a signal or a debugger."""
    with suppress(OSError, IndexError):
        text = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
        return text.rpartition(")")[2].split()[0] in ("T", "t")
    return False
