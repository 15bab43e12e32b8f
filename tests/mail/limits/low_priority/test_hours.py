"""Limit: a window of low priority is a time of day in a time zone, whatever its clocks do."""

from datetime import UTC, datetime, timedelta

import pytest
from psycopg.errors import CheckViolation, InvalidParameterValue

from mailqueue.db.fetch import Conn
from tests import make
from tests.mail.limits.low_priority.windows import change

pytestmark = pytest.mark.anyio


async def opens_at(conn: Conn, window: str, at: str) -> datetime | None:
    found: datetime | None = await make.scalar(
        conn,
        "SELECT mailqueue.low_opens_at(w.low_from, w.low_until, w.low_zone, %s::timestamptz)"
        " FROM mailqueue.low_priority_window(%s, 'UTC') AS w",
        at,
        window,
    )
    return found


def utc(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("window", "at", "opens"),
    [
        ("08:00-18:00", "2030-05-01 07:59:59.999Z", "2030-05-01 08:00"),
        ("08:00-18:00", "2030-05-01 08:00Z", None),
        ("08:00-18:00", "2030-05-01 17:59:59.999Z", None),
        ("08:00-18:00", "2030-05-01 18:00Z", "2030-05-02 08:00"),
        ("22:00-06:00", "2030-12-31 21:59Z", "2030-12-31 22:00"),
        ("22:00-06:00", "2030-12-31 23:59Z", None),
        ("22:00-06:00", "2031-01-01 05:59Z", None),
        ("22:00-06:00", "2031-01-01 06:00Z", "2031-01-01 22:00"),
        ("18:00-24:00", "2030-05-01 23:59Z", None),
        ("18:00-24:00", "2030-05-02 00:00Z", "2030-05-02 18:00"),
        ("00:00-00:01", "2030-05-01 00:01Z", "2030-05-02 00:00"),
        ("00:01-00:00", "2030-05-01 00:00Z", "2030-05-01 00:01"),
        # Ahead of and behind UTC by most.
        ("08:00-09:00 Pacific/Kiritimati", "2030-04-30 18:30Z", None),
        ("08:00-09:00 Pacific/Kiritimati", "2030-04-30 19:00Z", "2030-05-01 18:00"),
        ("08:00-09:00 Pacific/Pago_Pago", "2030-05-01 19:30Z", None),
        ("08:00-09:00 Pacific/Pago_Pago", "2030-05-01 18:59Z", "2030-05-01 19:00"),
        # On 31 March 2030 Berlin skips the hour from 2:00, which is 1:00 UTC.
        ("22:00-06:00 Europe/Berlin", "2030-03-31 03:59Z", None),
        ("22:00-06:00 Europe/Berlin", "2030-03-31 04:00Z", "2030-03-31 20:00"),
        ("03:00-04:00 Europe/Berlin", "2030-03-31 00:59Z", "2030-03-31 01:00"),
        ("02:30-02:45 Europe/Berlin", "2030-03-31 00:45Z", "2030-03-31 01:30"),
        ("02:30-02:45 Europe/Berlin", "2030-03-31 01:40Z", None),
        ("02:30-03:00 Europe/Berlin", "2030-03-31 01:59Z", None),
        ("02:30-03:00 Europe/Berlin", "2030-03-31 02:00Z", "2030-04-01 00:30"),
        # On 27 October 2030 it has the hour from 2:00 twice, from 0:00 and from 1:00 UTC.
        ("22:00-06:00 Europe/Berlin", "2030-10-27 04:59Z", None),
        ("22:00-06:00 Europe/Berlin", "2030-10-27 05:00Z", "2030-10-27 21:00"),
        ("02:30-02:45 Europe/Berlin", "2030-10-27 00:35Z", "2030-10-27 01:30"),
        ("02:30-02:45 Europe/Berlin", "2030-10-27 01:35Z", None),
        ("02:30-02:45 Europe/Berlin", "2030-10-27 01:45Z", "2030-10-28 01:30"),
        # Apia had no 30 December 2011.
        ("22:00-06:00 Pacific/Apia", "2011-12-30 09:00Z", None),
        ("22:00-06:00 Pacific/Apia", "2011-12-30 16:00Z", "2011-12-31 08:00"),
    ],
)
async def test_a_window_opens_and_closes_by_the_clock_of_its_zone(
    conn: Conn, window: str, at: str, opens: str | None
) -> None:
    assert await opens_at(conn, window, at) == utc(opens)


async def test_every_day_of_a_year_has_its_window_in_every_kind_of_zone(conn: Conn) -> None:
    """A mail never waits longer than a day and an hour, whatever the clocks do."""
    longest = await make.scalar(
        conn,
        "SELECT max(mailqueue.low_opens_at(w.low_from, w.low_until, w.low_zone, t) - t)"
        " FROM unnest(%s::text[]) AS a, unnest(%s::text[]) AS z,"
        "      generate_series('2024-01-01 00:10Z'::timestamptz, '2025-01-01Z', '6 h') AS t"
        " CROSS JOIN LATERAL mailqueue.low_priority_window(a || ' ' || z, 'UTC') AS w",
        ["02:30-03:00", "02:00-02:30", "23:30-00:30", "00:00-00:30", "01:00-00:59"],
        [
            "Europe/Berlin",
            "America/New_York",
            "Australia/Lord_Howe",
            "Africa/Cairo",
            "Asia/Beirut",
            "Europe/Dublin",
            "America/Santiago",
        ],
    )

    assert timedelta(hours=23) < longest <= timedelta(hours=25)


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("22:00-06:00 Europe/Berlin", "22:00-06:00 Europe/Berlin"),
        (" 8:00 - 24:00 ", "08:00-00:00"),
        ("8:00-9:30  UTC", "08:00-09:30 UTC"),
        (None, None),
    ],
)
async def test_a_window_has_one_form(conn: Conn, given: str | None, stored: str | None) -> None:
    assert (await change(conn, given))["low_priority_window"] == stored


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ("22:00-06:00 Mars/Base", 'there is no time zone "Mars/Base"'),
        ("22:00-06:00 +02:00", '"+02:00" is not a name such as Europe/Berlin'),
        ("22:00-06:00 EST5EDT4", '"EST5EDT4" is not a name such as Europe/Berlin'),
        ("22:00-22:00", "begin and end must differ"),
        ("00:00-24:00", "begin and end must differ"),
        ("24:00-06:00", "a begin, an end and a time zone"),
        ("22:00-24:01", "a begin, an end and a time zone"),
        ("22:60-06:00", "a begin, an end and a time zone"),
        ("22-06", "a begin, an end and a time zone"),
        ("", "a begin, an end and a time zone"),
        ("22:00-06:00 Europe/Berlin x", "a begin, an end and a time zone"),
        ("x" * 10_000, "a begin, an end and a time zone"),
    ],
)
async def test_what_is_no_window_is_refused_by_name(conn: Conn, given: str, named: str) -> None:
    with pytest.raises(InvalidParameterValue) as refused:
        await change(conn, given)

    assert str(refused.value).startswith("low_priority_window: ")
    assert named in str(refused.value)


@pytest.mark.parametrize(
    ("written", "error"),
    [("22:00-06:00 Mars/Base", InvalidParameterValue), ("at night", CheckViolation)],
)
async def test_a_window_that_is_written_by_hand_is_checked_too(
    conn: Conn, written: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        await conn.execute("UPDATE mailqueue.projects SET low_priority_window = %s", (written,))
