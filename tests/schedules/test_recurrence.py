"""Occurrences of cron expressions, compared with cronsim, which knows clocks as Debian's cron does.

cronsim is an implementation of its own: it shares no code with what computes them here.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim
from hypothesis import given, settings
from hypothesis import strategies as st

from mailqueue.db.fetch import Conn
from mailqueue.schedules import planning
from mailqueue.schedules.model import Recurrence
from tests.schedules.zones import AGES, shifted

pytestmark = pytest.mark.anyio
CHANGES = [
    ("Europe/Berlin", "2026-03-28T22:00", 30),
    ("Europe/Berlin", "2026-10-24T21:00", 30),
    ("America/New_York", "2026-03-08T04:00", 30),
    ("America/New_York", "2026-11-01T03:00", 30),
    ("Australia/Lord_Howe", "2026-04-04T12:00", 30),
    ("Australia/Lord_Howe", "2026-10-03T13:00", 30),
    ("Asia/Kolkata", "2026-03-28T22:00", 30),
]
PAST_CHANGES = [
    ("Pacific/Apia", "2011-12-29T20:00", 30),
    ("Pacific/Apia", "2011-04-02T11:00", 30),
    ("America/Sao_Paulo", "2018-11-03T22:00", 30),
    ("America/Sao_Paulo", "2019-02-16T22:00", 30),
]
"""Changes of a whole day, and at midnight. They are put 28 years later: rules begin in 2020."""
"""A zone, an instant some hours before its clock changes, and how many occurrences to compare."""
EXPRESSIONS = [
    "*/15 * * * *",
    "* * * * *",
    "0 * * * *",
    "30 */2 * * *",
    "*/20 2 * * *",
    "30 2 * * *",
    "30 1 * * *",
    "0 0 * * *",
    "15 0 * * *",
    "45 1,2 * * *",
    "0,30 0-3 * * *",
    "0 9 * * mon",
    "0 9 * * 1-5",
    "15 2 * * sun",
    "0 9 L * *",
    "0 9 * * 5#2",
    "0 9 1 * *",
    "30 2 29 2 *",
    "0 9 1,15 * fri",
    "0 0 1 jan *",
    "@daily",
    "@hourly",
    "@weekly",
    "@monthly",
    "@yearly",
]


def _judged(cron: str, zone: str, after: datetime, count: int) -> list[datetime]:
    names = {"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@weekly": "0 0 * * 0"}
    names |= {"@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *"}
    cron = names.get(cron, cron)
    if zone == "Australia/Lord_Howe" and "*" in (cron[0], cron.split()[1][0]):
        return _shown(cron, zone, after, count)
    found = CronSim(cron, after.astimezone(ZoneInfo(zone)))
    return [one.astimezone(UTC) for one in islice(found, count)]


def _shown(cron: str, zone: str, after: datetime, count: int) -> list[datetime]:
    """Return the instants at which the clock of a zone shows a time of an interval.

    Where a clock moves by half an hour, cronsim leaves out times that the clock shows, such as
    03:00 after a gap that ends at 02:30. Its times without a zone are right, and zoneinfo says
    when they are.
    """
    clock = ZoneInfo(zone)
    start = after.astimezone(clock).replace(tzinfo=None) - timedelta(hours=3)
    found = set[datetime]()
    for local in islice(CronSim(cron, start), count + 400):
        for fold in (0, 1):
            at = local.replace(tzinfo=clock, fold=fold).astimezone(UTC)
            if at > after and at.astimezone(clock).replace(tzinfo=None) == local:
                found.add(at)
    return sorted(found)[:count]


async def _computed(
    conn: Conn, cron: str, zone: str, after: datetime, count: int
) -> list[datetime]:
    rule = Recurrence(cron, zone, is_local=False)
    found = await planning.preview(conn, rule, after=after, until=None, count=count)
    return [one.at.astimezone(UTC) for one in found]


@pytest.mark.parametrize(("zone", "since", "count"), CHANGES)
async def test_occurrences_over_a_change_of_the_clock_are_those_of_another_implementation(
    conn: Conn, zone: str, since: str, count: int
) -> None:
    after = datetime.fromisoformat(since).replace(tzinfo=UTC)
    for cron in EXPRESSIONS:
        few = 3 if cron in ("30 2 29 2 *", "0 0 1 jan *", "@yearly") else count
        judged = _judged(cron, zone, after, few)
        assert await _computed(conn, cron, zone, after, few) == judged, cron


@pytest.mark.parametrize(("zone", "since", "count"), PAST_CHANGES)
async def test_a_day_that_is_left_out_and_a_change_at_midnight(
    conn: Conn, zone: str, since: str, count: int
) -> None:
    await shifted(conn, zone)
    after = datetime.fromisoformat(since).replace(tzinfo=UTC)
    for cron in EXPRESSIONS:
        few = 3 if cron in ("30 2 29 2 *", "0 0 1 jan *", "@yearly") else count
        found = await _computed(conn, cron, f"Test/{zone}", after + AGES, few)
        assert [one - AGES for one in found] == _judged(cron, zone, after, few), cron


_MINUTES = st.sampled_from(["*", "*/7", "*/30", "0", "59", "0,30", "10-20/5", "15"])
_HOURS = st.sampled_from(["*", "*/3", "0", "1", "2", "2,3", "0-4", "23"])
_DAYS = st.sampled_from(["*", "1", "31", "L", "1-7", "13,26"])
_MONTHS = st.sampled_from(["*", "3", "4", "10", "mar-apr", "oct,nov"])
_WEEKDAYS = st.sampled_from(["*", "sun", "1-5", "0,6", "7"])


@settings(max_examples=40, derandomize=True)
@given(
    fields=st.tuples(_MINUTES, _HOURS, _DAYS, _MONTHS, _WEEKDAYS),
    change=st.sampled_from(CHANGES),
    hours=st.integers(0, 72),
)
async def test_any_expression_has_the_occurrences_of_another_implementation(
    shared_conn: Conn, fields: Sequence[str], change: tuple[str, str, int], hours: int
) -> None:
    zone, since, _ = change
    after = datetime.fromisoformat(since).replace(tzinfo=UTC) - timedelta(hours=hours)
    cron = " ".join(fields)
    judged = _judged(cron, zone, after, 12)
    assert await _computed(shared_conn, cron, zone, after, 12) == judged


@pytest.mark.parametrize(
    ("cron", "zone", "after", "expected"),
    [
        # In the gap a fixed time is the first moment after it, on Lord Howe after half an hour.
        (
            "30 2 * * *",
            "Europe/Berlin",
            "2026-03-28T12:00",
            ["2026-03-29T01:00", "2026-03-30T00:30"],
        ),
        ("15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00", ["2026-10-03T15:30"]),
        # In the fold a fixed time comes once, the first time; an interval runs through.
        (
            "30 2 * * *",
            "Europe/Berlin",
            "2026-10-24T12:00",
            ["2026-10-25T00:30", "2026-10-26T01:30"],
        ),
        (
            "*/30 * * * *",
            "Europe/Berlin",
            "2026-10-24T23:45",
            ["2026-10-25T00:00", "2026-10-25T00:30", "2026-10-25T01:00", "2026-10-25T01:30"],
        ),
        # Only what the clock does not show is left out of an interval: 02:00 to 02:29 here.
        (
            "*/7 */3 * * *",
            "Australia/Lord_Howe",
            "2026-10-03T14:20",
            ["2026-10-03T14:26", "2026-10-03T16:00", "2026-10-03T16:07", "2026-10-03T16:14"],
        ),
        (
            "0 */3 * * *",
            "Australia/Lord_Howe",
            "2026-10-03T13:00",
            ["2026-10-03T13:30", "2026-10-03T16:00", "2026-10-03T19:00"],
        ),
        (
            "*/30 2 * * *",
            "Australia/Lord_Howe",
            "2026-10-03T13:00",
            ["2026-10-03T15:30", "2026-10-04T15:00", "2026-10-04T15:30"],
        ),
        # The half hour from 01:30 comes twice.
        (
            "*/30 1 * * *",
            "Australia/Lord_Howe",
            "2026-04-04T12:00",
            ["2026-04-04T14:00", "2026-04-04T14:30", "2026-04-04T15:00", "2026-04-05T14:30"],
        ),
        (
            "*/45 2 * * *",
            "Australia/Lord_Howe",
            "2026-04-04T12:00",
            ["2026-04-04T15:30", "2026-04-04T16:15", "2026-04-05T15:30"],
        ),
        # Two times of the gap are one occurrence.
        (
            "0 2,3 * * *",
            "Europe/Berlin",
            "2026-03-28T12:00",
            ["2026-03-29T01:00", "2026-03-30T00:00"],
        ),
        ("0 9 * * 5L", "UTC", "2026-01-01T00:00", ["2026-01-30T09:00", "2026-02-27T09:00"]),
        ("0 9 * * L5", "UTC", "2026-01-01T00:00", ["2026-01-30T09:00", "2026-02-27T09:00"]),
    ],
)
async def test_clocks_that_change(
    conn: Conn, cron: str, zone: str, after: str, expected: Sequence[str]
) -> None:
    since = datetime.fromisoformat(after).replace(tzinfo=UTC)
    found = await _computed(conn, cron, zone, since, len(expected))
    assert [one.strftime("%Y-%m-%dT%H:%M") for one in found] == expected
