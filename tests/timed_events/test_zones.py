"""Birthdays by the wall clock of their zones, judged by the zone rules of Node's ICU.

Its release may be older than ours: dates lie in years whose rules have been in force since.
"""

import json
import random
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from typing import Any

import pytest

from mailqueue.db.fetch import Conn
from tests import make
from tests.clients.node import run_text
from tests.timed_events import events

pytestmark = [pytest.mark.anyio, pytest.mark.node_clients]
ZONES = (
    "Australia/Lord_Howe",  # half an hour of summer time
    "Pacific/Apia",  # west of the date line until 2011, and without summer time since 2021
    "America/New_York",
    "America/Santiago",
    "Europe/Dublin",
    "Asia/Kathmandu",
    "Pacific/Chatham",
    "Pacific/Kiritimati",
    "Pacific/Pago_Pago",
    "America/St_Johns",
    "Asia/Beirut",  # changes at midnight
)
# Wall clocks of instants, in seconds since 1970, in zones; each as 2026-05-31T09:00:00.
JUDGE = """
const asked = JSON.parse(process.env.ASKED)
const parts = (zone) => new Intl.DateTimeFormat('en-CA', {
  timeZone: zone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit',
  hour: '2-digit', minute: '2-digit', second: '2-digit' })
const formats = new Map()
const wall = (zone, at) => {
  if (!formats.has(zone)) formats.set(zone, parts(zone))
  const found = Object.fromEntries(
    formats.get(zone).formatToParts(new Date(at * 1000)).map(({ type, value }) => [type, value]))
  return `${found.year}-${found.month}-${found.day}T${found.hour}:${found.minute}:${found.second}`
}
console.log(JSON.stringify(asked.map(([zone, at]) => wall(zone, at))))
"""
EARLIER = (timedelta(minutes=30), timedelta(hours=1), timedelta(hours=2), timedelta(days=1))
"""How far clocks are set back somewhere."""


def walls(asked: Iterable[tuple[str, datetime]]) -> list[datetime]:
    """Return what the clocks of zones show at instants, as Node says."""
    given = [[zone, int(at.timestamp())] for zone, at in asked]
    found: list[str] = []
    for start in range(0, len(given), 1000):  # an environment variable has a length
        found += run_text(JUDGE, ASKED=json.dumps(given[start : start + 1000]))
    return [datetime.fromisoformat(one) for one in found]


async def instants(conn: Conn, cases: list[tuple[str, datetime]]) -> list[datetime]:
    """Return the instants at which events are due."""
    query = (
        "SELECT mailqueue.local_to_utc(c.wall, c.zone)"
        " FROM unnest(%s::text[], %s::timestamp[]) WITH ORDINALITY AS c(zone, wall, n) ORDER BY n"
    )
    columns: tuple[list[Any], list[Any]] = ([z for z, _ in cases], [w for _, w in cases])
    return [row[0] for row in await make.rows(conn, query, *columns)]


CHANGES = (
    ("America/New_York", "2023-03-12T02:30"),  # left out
    ("America/New_York", "2023-11-05T01:30"),  # twice
    ("Australia/Lord_Howe", "2023-10-01T02:15"),
    ("Australia/Lord_Howe", "2023-04-02T01:45"),
    ("America/Havana", "2023-03-12T00:30"),
    ("America/Havana", "2023-11-05T00:30"),
    ("America/Santiago", "2023-09-03T00:30"),
    ("America/St_Johns", "2023-03-12T02:30"),
    ("Europe/Dublin", "2023-10-29T01:30"),
)
LEFT_OUT = 5
"""Wall clocks of CHANGES that no clock showed."""


async def test_local_times_that_are_left_out_or_happen_twice_are_due_once(conn: Conn) -> None:
    cases = [(zone, datetime.fromisoformat(wall)) for zone, wall in CHANGES]
    due = await instants(conn, cases)

    assert judged(cases, due) == LEFT_OUT


async def test_birthdays_are_at_the_local_hour_that_the_project_sets(conn: Conn) -> None:
    """Each contact's next birthday, computed here from the date of birth alone."""
    chance = random.Random(81)
    await events.template(conn)
    for leap_day, hour in (("february_28", "00:30"), ("march_1", "02:30"), ("march_1", "23:59")):
        await events.birthdays(conn, local_time=hour, leap_day=leap_day)
        born = [date(1988, 2, 29) if n % 5 == 0 else any_day(chance) for n in range(80)]
        for number, day in enumerate(born):
            await events.contact(
                conn,
                f"{leap_day}.{hour[:2]}.{number}@example.com",
                date_of_birth=day,
                time_zone=chance.choice(ZONES),
            )
        found = await make.rows(
            conn,
            "SELECT c.date_of_birth, e.time_zone, e.due_at, e.local_at, now()"
            " FROM mailqueue.timed_events AS e JOIN mailqueue.contacts AS c ON c.id = e.contact_id"
            " WHERE c.email LIKE %s",
            f"{leap_day}.{hour[:2]}.%",
        )
        assert len(found) == len(born)
        cases = list[tuple[str, datetime]]()
        for day, zone, due_at, local_at, now in found:
            on = birthday(day, local_at.year, leap_day)
            assert local_at == datetime.combine(on, time.fromisoformat(hour))
            assert now < due_at, "it lies ahead"
            assert due_at - now < timedelta(days=367), "and is the next one"
            cases.append((zone, local_at))
        judged(cases, [row[2] for row in found])


def birthday(born: date, year: int, leap_day: str) -> date:
    """Return the birthday in a year."""
    try:
        return born.replace(year=year)
    except ValueError:
        return date(year, 2, 28) if leap_day == "february_28" else date(year, 3, 1)


def any_day(chance: random.Random) -> date:
    return date(1950, 1, 1) + timedelta(days=chance.randrange(60 * 365))


def judged(cases: list[tuple[str, datetime]], due: list[datetime]) -> int:
    """Check instants of wall clocks; return how many of these no clock showed."""
    zones = [zone for zone, _ in cases]
    shown = walls(zip(zones, due, strict=True))
    before = walls((zone, at - timedelta(seconds=1)) for zone, at in zip(zones, due, strict=True))
    gaps = 0
    for (zone, wall), clock, earlier in zip(cases, shown, before, strict=True):
        if clock != wall:  # the first moment after it
            assert earlier < wall < clock, (zone, wall, clock, earlier)
            gaps += 1
    # Of two instants the first: no clock showed the same before.
    for distance in EARLIER:
        again = walls((zone, at - distance) for zone, at in zip(zones, due, strict=True))
        assert [c for c, seen in zip(cases, again, strict=True) if c[1] == seen] == []
    return gaps
