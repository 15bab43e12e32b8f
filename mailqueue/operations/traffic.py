"""How attempts to send ended, by minute for an hour and by ten minutes for a day, in memory.

Each minute of the log is read once and kept, but for the last ones, to which attempts are still
added. So the cost of a refresh is that of some minutes of mail, however long the log is.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import NamedTuple
from uuid import UUID

from mailqueue.db.fetch import Conn
from mailqueue.operations.store import overview as overview_store
from mailqueue.operations.store.overview import TrafficRow

MINUTE = timedelta(minutes=1)
BLOCK = timedelta(minutes=10)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
SETTLING = timedelta(minutes=3)
"""How long after its end attempts may be added to a minute: outcomes are committed in groups."""
MAX_GAP = timedelta(minutes=15)
"""Time without a refresh after which the past is read again in steps, not in one statement."""
FIRST_STEP = timedelta(minutes=10)
"""Length of the first span of the past that is read at once; later ones follow the time it took."""
MAX_STEP = timedelta(hours=6)
STEP_SECONDS = 0.1
"""Seconds that reading one span of the past should take at most."""
PAST_SECONDS = 0.5
"""Seconds after which `read_past` leaves older spans to its next call."""


class Counts(NamedTuple):
    """How attempts ended."""

    sent: int = 0
    deferred: int = 0
    bounced: int = 0
    failed: int = 0

    @property
    def attempts(self) -> int:
        return self.sent + self.deferred + self.bounced + self.failed

    def plus(self, other: "Counts") -> "Counts":
        return Counts(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


@dataclass(frozen=True, slots=True)
class Point:
    """Attempts of a span that begins at a time; `counts` None: not read yet."""

    at: datetime
    counts: Counts | None


NONE = Counts()
_ByProject = dict[UUID | None, Counts]
"""Counts by project; those of all projects under None."""


class Traffic:
    """What is known of the last day. `known_from` None: nothing yet."""

    def __init__(self) -> None:
        self.known_from: datetime | None = None
        self.now = datetime.fromtimestamp(0, UTC)
        """The server's time of the last refresh."""
        self._final_until = self.now  # minutes before it are not read again
        self._minutes: dict[datetime, _ByProject] = {}
        self._blocks: dict[datetime, _ByProject] = {}
        self._step = FIRST_STEP

    async def refresh(self, conn: Conn) -> None:
        """Read the newest minutes."""
        await self._begin(conn)
        found = await overview_store.traffic(
            conn, since=self._final_until, until=_minute(self.now) + MINUTE
        )
        self.add_newest(found)

    async def read_past(self, conn: Conn) -> None:
        """Read a part of the day that was not read yet, if any."""
        began = monotonic()
        await self._begin(conn)
        while self.is_missing and monotonic() - began < PAST_SECONDS:
            await self._read_step(conn)

    async def _begin(self, conn: Conn) -> None:
        """Set the time; begin anew after a while without a refresh."""
        self.now = await overview_store.clock(conn)
        if self.known_from is None or self.now - self._final_until > MAX_GAP:
            self.forget()
            self.known_from = self._final_until = _minute(self.now) - SETTLING

    @property
    def is_missing(self) -> bool:
        """Return whether a part of the last day is not read yet."""
        return self.known_from is not None and self.known_from > _block(self.now - DAY)

    def forget(self) -> None:
        """Forget everything, as at first."""
        self.known_from = None
        self._minutes.clear()
        self._blocks.clear()

    def add_newest(self, rows: Iterable[TrafficRow]) -> None:
        """Replace the minutes that were not final, and make those final that are over."""
        for minute in [each for each in self._minutes if each >= self._final_until]:
            del self._minutes[minute]
        self._keep(rows)
        until = max(self._final_until, _minute(self.now) - SETTLING)
        for minute, counts in self._minutes.items():
            if self._final_until <= minute < until:
                _add(self._blocks.setdefault(_block(minute), {}), counts)
        self._final_until = until
        self._forget_oldest()

    def add_past(self, rows: Iterable[TrafficRow], *, since: datetime) -> None:
        """Add what lies before all that is known."""
        past: dict[datetime, _ByProject] = {}
        for row in rows:
            _add(past.setdefault(row.minute, {}), _of_row(row))
        for minute, counts in past.items():
            _add(self._blocks.setdefault(_block(minute), {}), counts)
            self._minutes[minute] = counts
        self.known_from = since
        self._forget_oldest()

    def minutes(self, project: UUID | None = None) -> list[Point]:
        """Return the complete minutes of the last hour, of a project or of all, oldest first."""
        end = _minute(self.now)
        return self._points(self._minutes, end - HOUR, end, MINUTE, project)

    def blocks(self, project: UUID | None = None) -> list[Point]:
        """Return the complete ten minutes of the last day, of a project or of all, oldest first."""
        end = _block(self._final_until)
        return self._points(self._blocks, end - DAY, end, BLOCK, project)

    def attempts_since(self, since: datetime) -> int:
        """Return the number of attempts of all projects since a time within the last hour."""
        assert since >= self.now - HOUR, "only minutes of the last hour are kept"
        return sum(
            counts[None].attempts for minute, counts in self._minutes.items() if minute >= since
        )

    async def _read_step(self, conn: Conn) -> None:
        assert self.known_from is not None, "the newest minutes are read first"
        since = max(self.known_from - self._step, _block(self.now - DAY))
        began = monotonic()
        self.add_past(
            await overview_store.traffic(conn, since=since, until=self.known_from), since=since
        )
        took = monotonic() - began
        if took < STEP_SECONDS / 2:
            self._step = min(MAX_STEP, self._step * 2)
        elif took > STEP_SECONDS:
            self._step = max(MINUTE, self._step / 2 // MINUTE * MINUTE)

    def _points(
        self,
        known: Mapping[datetime, _ByProject],
        since: datetime,
        until: datetime,
        step: timedelta,
        project: UUID | None,
    ) -> list[Point]:
        known_from = self.known_from or until
        found = []
        for place in range(int((until - since) / step)):
            at = since + place * step
            counts = known.get(at, {}).get(project, NONE) if at >= known_from else None
            found.append(Point(at, counts))
        return found

    def _keep(self, rows: Iterable[TrafficRow]) -> None:
        for row in rows:
            _add(self._minutes.setdefault(row.minute, {}), _of_row(row))

    def _forget_oldest(self) -> None:
        for known, oldest in (
            (self._minutes, self.now - HOUR - SETTLING),
            (self._blocks, self.now - DAY - BLOCK - SETTLING),
        ):
            for at in [each for each in known if each < oldest]:
                del known[at]


def _of_row(row: TrafficRow) -> _ByProject:
    counts = Counts(row.sent, row.deferred, row.bounced, row.failed)
    return {row.project_id: counts, None: counts}


def _add(known: _ByProject, more: Mapping[UUID | None, Counts]) -> None:
    for project, counts in more.items():
        known[project] = known.get(project, NONE).plus(counts)


def _minute(at: datetime) -> datetime:
    return at.replace(second=0, microsecond=0)


def _block(at: datetime) -> datetime:
    return at.replace(minute=at.minute // 10 * 10, second=0, microsecond=0)
