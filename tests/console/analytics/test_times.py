"""The time that the analytics show: what was typed, in the time zone of the project."""

from datetime import UTC, datetime, timedelta

import pytest

from mailqueue.analytics.model import TimeSpan
from mailqueue.console.analytics.filters import MAX_POINTS, read_form, time_of
from mailqueue.console.analytics.shown import change_of, points_between, shade_of
from mailqueue.contract.analytics import Bucket
from mailqueue.contract.counts import CountRate
from tests import make
from tests.console.visiting import Visiting, Visitor
from tests.rows import each_row

pytestmark = pytest.mark.anyio

ANALYTICS = "/console/projects/default/analytics"
NOW = datetime(2030, 3, 31, 12, 30, tzinfo=UTC)


@each_row(
    "query, why",
    [
        ("period=ages", "Time must be one of those shown"),
        ("period=days", "First day is needed"),
        ("period=days&since=2999-01-01", "First day must be a day that is not in the future"),
        ("period=days&since=2020-02-02&until=2020-02-01", "Last day must not be before"),
        ("period=days&since=1980-01-01", "First day at most 3660 days"),
        ("since=yesterday", "First day must be a day such as 2030-05-01"),
        ("metric=money", "Count must be one of those shown"),
        ("group=recipient", "Grouped by must be one of those shown"),
        ("bucket=hour", f"Spans of makes more than {MAX_POINTS} spans"),
        ("bucket=minute&period=year", "Spans of counts by minute are kept for 90 days"),
        ("compare=all&mode=both", "Compared with must be one of those shown; Mail must be"),
    ],
)
async def test_what_is_wrong_with_a_time_is_named_and_nothing_is_shown(
    console: Visiting, visitor: Visitor, query: str, why: str
) -> None:
    response = await visitor.get(f"{ANALYTICS}?{query}")

    assert response.status_code == 200
    assert why in response.text
    assert "<svg" not in response.text


async def test_days_are_those_of_the_time_zone_of_the_project(console: Visiting) -> None:
    async with console.connection() as conn:
        project = await make.project_named(conn)
        await conn.execute("UPDATE mailqueue.projects SET time_zone = 'Europe/Berlin'")
        days = read_form({"period": "days", "since": "2020-03-29", "until": "2020-03-29"})
        a_day = await time_of(conn, days, project, NOW)
        week = await time_of(conn, read_form({"period": "week"}), project, NOW)
        last = await time_of(conn, read_form({"period": "hour"}), project, NOW)

    assert a_day == TimeSpan(
        datetime(2020, 3, 28, 23, tzinfo=UTC),
        datetime(2020, 3, 29, 22, tzinfo=UTC),
        "Europe/Berlin",
    )
    assert (week.since, week.until) == (datetime(2030, 3, 24, 23, tzinfo=UTC), NOW)
    assert last.since == NOW - timedelta(hours=1)


@pytest.mark.parametrize(
    ("days", "bucket"),
    [(0.05, "minute"), (1, "hour"), (30, "day"), (365, "week"), (2000, "month")],
)
def test_the_spans_suit_the_time_unless_some_are_chosen(days: float, bucket: str) -> None:
    span = TimeSpan(NOW - timedelta(days=days), NOW, "UTC")

    assert read_form({}).bucket_of(span) == bucket
    assert read_form({"bucket": "day"}).bucket_of(span) is Bucket.DAY


def test_shades_and_changes_of_nothing_and_of_all() -> None:
    half, third = CountRate(0.5, 1, "sent", 2), CountRate(1 / 3, 1, "sent", 3)

    assert [shade_of(count, 100) for count in (0, 1, 20, 21, 99, 100)] == [0, 1, 1, 2, 5, 5]
    assert shade_of(0, 0) == 0
    assert [change_of(150, 100), change_of(1000, 1001), change_of(5, 0)] == ["+50 %", "0 %", ""]
    assert change_of(5_000, 1) == "+499,900 %"
    assert change_of(5, None) == ""
    assert points_between(half, third) == "+16.67 points"
    assert points_between(half, CountRate(None, 1, "sent", 0, is_known=False)) == ""
    assert points_between(half, CountRate(None, 0, "sent", 0)) == ""
