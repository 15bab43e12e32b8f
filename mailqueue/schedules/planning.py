"""Which occurrence of a schedule is next, and which to run of those that were missed."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from mailqueue.db.fetch import Conn
from mailqueue.schedules import recurrence
from mailqueue.schedules.model import AskedOccurrence, ClaimedSchedule, Fire, Occurrence, Recurrence
from mailqueue.schedules.store import occurrences

MISSED_AFTER = timedelta(minutes=5)
"""Delay from which on an occurrence counts as missed."""
MAX_MISSED = 100
"""Missed occurrences that `all` makes up for, the latest ones."""
MAX_PREVIEW = 100
"""Occurrences that a preview has at most."""
_FEW, _MANY = 3, recurrence.MAX_TIMES
_ROUNDS = (_FEW, *[_MANY] * 5)
"""Times that are looked at in turn: a zone may skip a whole day, which has 1,440 minutes."""
_MINUTE = timedelta(minutes=1)
_NOTHING = timedelta(0)


async def now(conn: Conn) -> datetime:
    """Return the time of the database, by which schedules run."""
    return await occurrences.clock(conn)


async def following(conn: Conn, wanted: Sequence[AskedOccurrence]) -> list[Occurrence | None]:
    """Return the first occurrence of each after its instant; None where there is none.

    Raises:
        InvalidField: one is not a cron expression.
    """
    found: dict[int, Occurrence] = {}
    # A clock that is set back shows earlier times again: all of them are looked at together.
    clocks = await occurrences.clocks(conn, wanted)
    folded = {clock.place for clock in clocks if clock.fold}
    since = {clock.place: clock.local - (clock.fold or _NOTHING) - _MINUTE for clock in clocks}
    for few in _ROUNDS:
        candidates = []
        for place, start in list(since.items()):
            count = _MANY if place in folded else few
            times = recurrence.times_after(wanted[place - 1][0].cron, start, count)
            candidates += [(place, local) for local in times]
            if len(times) < count:
                del since[place]  # it has no more
            else:
                since[place] = times[-1]
        if candidates:
            found |= await occurrences.first_occurrences(conn, candidates, wanted)
        since = {place: start for place, start in since.items() if place not in found}
        if not since:
            break
    return [found.get(place) for place in range(1, len(wanted) + 1)]


async def preview(
    conn: Conn, rule: Recurrence, *, after: datetime, until: datetime | None, count: int
) -> list[Occurrence]:
    """Return the next occurrences after an instant, in order."""
    found: list[Occurrence] = []
    while len(found) < count:
        (first,) = await following(conn, [(rule, after)])
        if first is None or (until is not None and first.at > until):
            break
        found.append(first)
        after = first.at
    return found


async def plan(
    conn: Conn, row: ClaimedSchedule, following_: Occurrence | None, *, now: datetime
) -> Fire:
    """Return what to do with a due schedule; `following_` is its first occurrence after this one.

    An occurrence that is later than MISSED_AFTER was missed: of all that are due then, the policy
    of the schedule says which still run.
    """
    rule = row.recurrence
    due = _due(row)
    if due is None:
        return Fire(None, following_)
    if rule is None:
        is_left_out = row.missed == "skip" and now - due.at > MISSED_AFTER
        return Fire(None if is_left_out else due, None, due.at if is_left_out else None)
    if now - due.at <= MISSED_AFTER:
        return Fire(due, following_)
    until = now if row.ends_at is None else min(now, row.ends_at)
    if row.missed == "all":
        kept = await _before(conn, rule, due, until, MAX_MISSED)
        run = kept[0] if kept else due
        return Fire(run, await _next(conn, rule, run.at), due.at if run.at > due.at else None)
    last = ((await _before(conn, rule, due, until, 1)) or [due])[-1]
    after = await _next(conn, rule, now)
    if row.missed == "skip":
        return Fire(None, after, last.at)
    return Fire(last, after, due.at if last.at > due.at else None)


def within(row: ClaimedSchedule, fire: Fire) -> Fire:
    """Return what to do within the bounds of a schedule: its end and its number of runs. Pure."""
    if row.max_runs is not None and row.run_count >= row.max_runs:  # runs by request count too
        return Fire(None, None)
    runs = row.run_count + (fire.occurrence is not None)
    ended = row.max_runs is not None and runs >= row.max_runs
    after = fire.following
    if after is not None and row.ends_at is not None and after.at > row.ends_at:
        ended = True
    return fire._replace(following=None) if ended else fire


def _due(row: ClaimedSchedule) -> Occurrence | None:
    """Return the occurrence whose time has come; None: the next one is to be computed first."""
    if row.plan_after is not None or row.next_run_at is None or row.next_local is None:
        return None
    return Occurrence(row.next_local, row.next_run_at)


async def _next(conn: Conn, rule: Recurrence, after: datetime) -> Occurrence | None:
    return (await following(conn, [(rule, after)]))[0]


async def _before(
    conn: Conn, rule: Recurrence, due: Occurrence, until: datetime, count: int
) -> list[Occurrence]:
    """Return the last `count` occurrences from a due one until an instant, in order."""
    (clock,) = await occurrences.clocks(conn, [(rule, until)])
    ahead = clock.fold or _NOTHING
    # Some more: times in a gap share an instant, and those of a fold may lie ahead.
    most = count + _FEW if clock.fold is None else _MANY
    locals_ = recurrence.times_before(rule.cron, clock.local + ahead + _MINUTE, most)
    return [
        one
        for one in await occurrences.occurrences_between(conn, rule, locals_, until=until)
        if one.at >= due.at
    ][-count:]
