"""The handler of queue `schedules`: begin the run of a due occurrence, and compute the next one.

The run, its mail and the next occurrence are written in the transaction that settles the schedule:
an occurrence has its run or is still due, whatever dies.
"""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from functools import partial

from mailqueue.core.crashpoints import reach
from mailqueue.core.outcome import Again, Defer, Done, Outcome
from mailqueue.db.fetch import Conn
from mailqueue.db.statements import schedules as sql
from mailqueue.queue.handler import Call, TransactionHandler
from mailqueue.schedules import planning
from mailqueue.schedules.model import ClaimedSchedule, Fire, Occurrence
from mailqueue.schedules.store import occurrences
from mailqueue.schedules.store.occurrences import FiredSchedule
from mailqueue.settings.environment import Settings
from mailqueue.telemetry.log import get_logger

log = get_logger(__name__)

REPLAN_SECONDS = 60.0
"""Interval at which schedules are looked for that older rules of time zones planned."""
MAX_REPLANNED = 1000
"""Schedules that are planned anew in one transaction."""
BEHIND_WAIT = timedelta(seconds=1)
"""Wait while the run before is being made, of a schedule that queues its runs."""
REFUSED_WAIT = timedelta(seconds=30)
"""Wait while the project accepts no mail; counts no attempt."""


class ScheduleHandler(TransactionHandler[ClaimedSchedule, Fire]):
    """Runs schedules."""

    row = ClaimedSchedule
    claims_by = sql.CLAIM_SCHEDULES

    def __init__(self) -> None:
        self._replans_at = 0.0

    async def load(self, conn: Conn, rows: Sequence[ClaimedSchedule]) -> Sequence[ClaimedSchedule]:
        """Return the rows with what is to be done with each."""
        rules = {row.id: row.recurrence for row in rows}
        asked = [
            (row.id, rule, after)
            for row in rows
            if (rule := rules[row.id]) is not None
            and (after := row.plan_after or row.next_run_at) is not None
        ]
        found: list[Occurrence | None] = []
        if asked:
            found = await planning.following(conn, [(rule, after) for _, rule, after in asked])
        following = dict(zip((schedule_id for schedule_id, _, _ in asked), found, strict=True))
        now = await occurrences.clock(conn)
        loaded = []
        for row in rows:
            fire = planning.within(
                row, await planning.plan(conn, row, following.get(row.id), now=now)
            )
            loaded.append(row._replace(fire=fire._replace(size=max(1, min(100, row.recipients)))))
        return loaded

    def work(self, row: ClaimedSchedule) -> Outcome | Fire:
        assert row.fire is not None, "load() says what is to be done"
        return row.fire

    async def commit(
        self, conn: Conn, done: Sequence[tuple[ClaimedSchedule, Fire]]
    ) -> Sequence[Outcome]:
        release = await occurrences.zone_release(conn)
        due = [(row.id, fire.occurrence) for row, fire in done if fire.occurrence is not None]
        fired = await occurrences.fire(conn, due) if due else {}
        reach("schedules.fired")
        return [_outcome(row, fire, fired.get(row.id), release) for row, fire in done]

    async def rest(self, call: Call) -> None:
        """Have what lies ahead computed again after rules of time zones have changed."""
        now = asyncio.get_running_loop().time()
        if now < self._replans_at:
            return
        count = await call(partial(occurrences.replan, limit=MAX_REPLANNED))
        is_all = count < MAX_REPLANNED
        self._replans_at = now + REPLAN_SECONDS if is_all else now
        if count:
            log.info("schedules.replanned", schedules=count)


def schedule_handler(_settings: Settings) -> ScheduleHandler:
    """Return the handler of queue `schedules`."""
    return ScheduleHandler()


def _outcome(
    row: ClaimedSchedule, fire: Fire, fired: FiredSchedule | None, release: str
) -> Outcome:
    outcome = None if fired is None else fired.outcome
    if fired is not None and outcome == "behind":
        if fired.reason is not None:
            return Defer(fired.reason, REFUSED_WAIT)
        return Defer("the run before is still being made", BEHIND_WAIT)
    if outcome == "skipped":
        assert fire.occurrence is not None, "only an occurrence is skipped"
        fire = fire._replace(missed=fire.occurrence.at)
    count = row.run_count + 1 if outcome == "run" else None
    values = occurrences.values_of(fire, release=release, run_count=count)
    if fire.following is None:
        return Done(values=values, reason=_end_of(row, fire))
    return Again(at=fire.following.at, values=values)


def _end_of(row: ClaimedSchedule, fire: Fire) -> str | None:
    if fire.occurrence is None and fire.missed is not None:
        return "it was missed, as no worker ran it in time"
    if row.recurrence is None:
        return None
    if row.max_runs is not None and row.run_count + 1 >= row.max_runs:
        return f"it has run {row.max_runs} times"
    return "it has no further occurrence"
