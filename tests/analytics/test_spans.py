"""Hours, days, weeks and months are those of the calendar of a time zone."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from mailqueue.analytics import store
from mailqueue.analytics.model import TimeSpan
from mailqueue.contract.analytics import Bucket
from mailqueue.db.fetch import Conn

pytestmark = pytest.mark.anyio


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


async def spans(conn: Conn, since: str, until: str, bucket: Bucket, zone: str) -> list[str]:
    """Return the local start of each span with its length in hours."""
    found = await store.spans(conn, TimeSpan(at(since), at(until), zone), bucket)
    return [
        f"{one.local_at:%m-%d %H:%M} {(next_.started_at - one.started_at) / timedelta(hours=1):g}"
        for one, next_ in pairwise(found)
    ]


async def test_days_in_which_clocks_change_have_23_and_25_hours(conn: Conn) -> None:
    march = await spans(conn, "2026-03-28T23:00", "2026-03-30T22:00", Bucket.DAY, "Europe/Rome")
    assert march == ["03-29 00:00 23", "03-30 00:00 24"]
    october = await spans(conn, "2026-10-24T22:00", "2026-10-25T23:00", Bucket.DAY, "Europe/Rome")
    assert october == ["10-25 00:00 25"]


async def test_an_hour_that_is_repeated_is_two_spans_and_one_that_is_left_out_is_none(
    conn: Conn,
) -> None:
    found = await spans(conn, "2026-10-25T00:00", "2026-10-25T03:00", Bucket.HOUR, "Europe/Rome")
    assert found == ["10-25 02:00 1", "10-25 02:00 1", "10-25 03:00 1"]
    found = await spans(conn, "2026-03-29T00:00", "2026-03-29T02:00", Bucket.HOUR, "Europe/Rome")
    assert found == ["03-29 01:00 1", "03-29 03:00 1"]


async def test_hours_of_zones_with_half_hours_begin_on_their_own_hour(conn: Conn) -> None:
    found = await store.spans(
        conn,
        TimeSpan(at("2026-05-01T10:00"), at("2026-05-01T12:00"), "Asia/Kolkata"),
        Bucket.HOUR,
    )
    assert [f"{one.started_at:%H:%M} {one.local_at:%H:%M}" for one in found] == [
        "09:30 15:00",
        "10:30 16:00",
        "11:30 17:00",
        "12:30 18:00",
    ]
    nepal = await store.spans(
        conn, TimeSpan(at("2026-05-01T00:00"), at("2026-05-02T00:00"), "Asia/Kathmandu"), Bucket.DAY
    )
    assert [f"{one.started_at:%d %H:%M}" for one in nepal] == ["30 18:15", "01 18:15", "02 18:15"]


async def test_a_day_whose_clocks_change_by_half_an_hour_has_all_its_time(conn: Conn) -> None:
    """Lord Howe sets its clocks back by 30 minutes at 02:00."""
    found = await store.spans(
        conn,
        TimeSpan(at("2026-04-04T13:00"), at("2026-04-05T13:30"), "Australia/Lord_Howe"),
        Bucket.HOUR,
    )
    lengths = [
        (next_.started_at - one.started_at) / timedelta(hours=1) for one, next_ in pairwise(found)
    ]
    assert sum(lengths) == 24.5
    assert sorted(set(lengths)) == [1.0, 1.5]


async def test_weeks_begin_on_monday_and_months_on_their_first_day(conn: Conn) -> None:
    weeks = await spans(conn, "2026-07-02T00:00", "2026-07-14T00:00", Bucket.WEEK, "UTC")
    assert weeks == ["06-29 00:00 168", "07-06 00:00 168", "07-13 00:00 168"]
    months = await spans(conn, "2026-02-10T00:00", "2026-03-31T21:00", Bucket.MONTH, "Asia/Tokyo")
    assert months == ["02-01 00:00 672", "03-01 00:00 744", "04-01 00:00 720"]
    minutes = await spans(conn, "2026-02-10T00:00:30", "2026-02-10T00:01:30", Bucket.MINUTE, "UTC")
    assert len(minutes) == 2
