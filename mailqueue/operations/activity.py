"""What the platform does now: one snapshot for all who look at it, of all projects or of one."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import monotonic
from uuid import UUID

from mailqueue.admin import boards
from mailqueue.contract.activity import AttemptsInSpan, SendingActivity
from mailqueue.contract.admin import QueueLane, QueueState, WorkerProcess
from mailqueue.contract.operations import AccountTraffic
from mailqueue.db.fetch import Conn, Lend
from mailqueue.operations.model import PRIORITIES
from mailqueue.operations.store import overview as overview_store
from mailqueue.operations.traffic import Point, Traffic

REFRESH_SECONDS = 1.5
"""Age in seconds up to which a snapshot is shown again without reading."""
PACE = 50
"""A snapshot that takes a second to read is shown again for PACE seconds: 2 % of the time."""
MAX_AGE_SECONDS = 30.0
"""Age in seconds at which a snapshot is read again, however long that takes."""
MAX_ATTEMPTS = 100_000
"""Attempts of all accounts that one look at response times may read; the span follows from it."""
SPANS = tuple(timedelta(minutes=minutes) for minutes in (60, 15, 5, 1))
"""Spans of response times; the longest with at most MAX_ATTEMPTS is used."""
_NOT_BLOCKED = (None, "empty", "not_due", "recheck")


@dataclass(frozen=True, slots=True)
class Depth:
    """Unfinished emails of one priority."""

    priority: str
    pending: int = 0
    due: int = 0
    assigned: int = 0
    held: int = 0
    oldest_due_at: datetime | None = None
    is_estimate: bool = False
    """Whether `pending` and `due` are estimates from statistics."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What is known now, of all projects or of one."""

    at: datetime
    lanes: Sequence[QueueLane]
    accounts: Sequence[AccountTraffic]
    """Attempts within `span`, the slowest account first."""
    span: timedelta
    workers: Sequence[WorkerProcess]
    queues: Sequence[QueueState]
    """Besides emails; of all projects."""
    minutes: Sequence[Point]
    blocks: Sequence[Point]
    is_missing: bool
    """Whether a part of the last day is not read yet."""

    @property
    def depths(self) -> list[Depth]:
        """Return the unfinished emails of each priority, most urgent first."""
        return [depth_of(name, self._of_priority(place)) for place, name in enumerate(PRIORITIES)]

    @property
    def blocked(self) -> list[QueueLane]:
        """Return the lanes that have due emails and are blocked, the longest wait first."""
        found = [each for each in self.lanes if each.blocked_reason not in _NOT_BLOCKED]
        return sorted(found, key=lambda each: (each.oldest_due_at or self.at, each.project))

    @property
    def oldest_due_at(self) -> datetime | None:
        """Return since when the email that waits longest has been due."""
        return min((each.oldest_due_at for each in self.lanes if each.oldest_due_at), default=None)

    def sending(self) -> SendingActivity:
        """Return attempts and response times, without what is known of the queue."""
        return SendingActivity(
            at=self.at,
            is_complete=not self.is_missing,
            accounts_since=self.at - self.span,
            accounts=self.accounts,
            minutes=_known(self.minutes),
            ten_minutes=_known(self.blocks),
        )

    def _of_priority(self, place: int) -> list[QueueLane]:
        return [each for each in self.lanes if each.priority == place]


def depth_of(priority: str, lanes: Iterable[QueueLane]) -> Depth:
    """Return the sum of lanes. Pure."""
    found = list(lanes)
    return Depth(
        priority,
        pending=sum(each.pending for each in found),
        due=sum(each.due for each in found),
        assigned=sum(each.assigned for each in found),
        held=sum(each.held for each in found),
        oldest_due_at=min(
            (each.oldest_due_at for each in found if each.oldest_due_at), default=None
        ),
        is_estimate=any(each.is_estimate for each in found),
    )


@dataclass(slots=True)
class Activity:
    """The newest snapshot of a process; its cost does not depend on how many look at it."""

    _traffic: Traffic = field(default_factory=Traffic)
    _lanes: Sequence[QueueLane] = ()
    _accounts: Sequence[AccountTraffic] = ()
    _workers: Sequence[WorkerProcess] = ()
    _queues: Sequence[QueueState] = ()
    _span: timedelta = SPANS[0]
    _read_at: float = float("-inf")
    _took: float = 0.0  # by the last read
    _takes: float = 0.0  # by the quicker one of the last two: the first, or one of many, is slow
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def refresh(self, conn: Conn) -> None:
        """Read everything, unless it was read a moment ago.

        The connection must not act for a project.
        """
        async with self._turn:
            if not self._is_fresh:
                await self._read_all(conn)

    async def refresh_from(self, lend: Lend) -> None:
        """Read everything, unless it was read a moment ago; of many callers one borrows.

        The connections lent must not act for a project.
        """
        async with self._turn:
            if not self._is_fresh:
                async with lend() as conn:
                    await self._read_all(conn)

    @property
    def _is_fresh(self) -> bool:
        paced = min(self._takes * PACE, MAX_AGE_SECONDS)
        return monotonic() - self._read_at < max(REFRESH_SECONDS, paced)

    async def _read_all(self, conn: Conn) -> None:
        await self._traffic.read_past(conn)  # once for each minute: not of the pace
        took = await self._read(conn)
        self._takes = min(took, self._took)
        self._took = took
        self._read_at = monotonic()

    async def _read(self, conn: Conn) -> float:
        """Read what changes; return how many seconds it took."""
        began = monotonic()
        await self._traffic.refresh(conn)
        self._span = span_for(self._traffic)
        self._accounts = await overview_store.accounts(conn, since=self._traffic.now - self._span)
        board = await boards.waiting(conn)
        self._lanes, self._queues = board.lanes, board.queues
        self._workers = await boards.workers(conn)
        return monotonic() - began

    def snapshot(self, project_id: UUID | None = None, name: str | None = None) -> Snapshot:
        """Return what is known of all projects, or of the one with this id and name."""
        is_all = project_id is None
        return Snapshot(
            at=self._traffic.now,
            lanes=[each for each in self._lanes if is_all or each.project == name],
            accounts=[each for each in self._accounts if is_all or each.project == name],
            span=self._span,
            workers=self._workers,
            queues=self._queues,
            minutes=self._traffic.minutes(project_id),
            blocks=self._traffic.blocks(project_id),
            is_missing=self._traffic.is_missing,
        )


def _known(points: Sequence[Point]) -> list[AttemptsInSpan]:
    """Return the points that were read."""
    return [AttemptsInSpan(each.at, *each.counts) for each in points if each.counts is not None]


def span_for(traffic: Traffic) -> timedelta:
    """Return the longest span whose attempts may all be read. Pure."""
    for span in SPANS[:-1]:
        since = traffic.now - span
        is_known = traffic.known_from is not None and traffic.known_from <= since
        if is_known and traffic.attempts_since(since) <= MAX_ATTEMPTS:
            return span
    return SPANS[-1]
