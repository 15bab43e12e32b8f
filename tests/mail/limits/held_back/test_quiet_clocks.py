"""Quiet hours by the rules of time zones that are loaded, also when clocks change."""

import pytest

from mailqueue.db.fetch import Conn
from tests import make
from tests.contacts import people
from tests.mail.limits.held_back.marketing import change, handled, marketing, waits

pytestmark = pytest.mark.anyio


async def test_a_zone_that_only_the_loaded_rules_have_is_used(conn: Conn) -> None:
    await conn.execute(
        "INSERT INTO mailqueue.time_zones VALUES ('Mars/Olympus', 'Mars/Olympus');"
        "INSERT INTO mailqueue.time_zone_offsets VALUES ('Mars/Olympus', '2020-01-01Z', '7:30')"
    )
    await make.sender_account(conn)
    await people.put(conn, await make.project_named(conn), time_zone="Mars/Olympus")
    around = (
        "SELECT to_char(t - interval '1 h', 'HH24:MI') || '-' || to_char(t + interval '1 h',"
        " 'HH24:MI') FROM mailqueue.utc_to_local(now(), 'Mars/Olympus') AS t"
    )
    await change(conn, quiet_hours=await make.scalar(conn, around))
    late = await marketing(conn)

    assert await handled(conn, await make.worker(conn)) == []
    assert (await waits(conn, late))[1].endswith(" Mars/Olympus")


@pytest.mark.parametrize(
    ("hours", "zone", "now", "until"),
    [
        # Clocks in Berlin show 2:00 to 3:00 twice on 25 October, from 0:00 and from 1:00 UTC.
        ("22:00-02:30", "Europe/Berlin", "2026-10-25T00:10", "2026-10-25T00:30"),
        ("22:00-02:30", "Europe/Berlin", "2026-10-25T00:45", None),
        ("22:00-02:30", "Europe/Berlin", "2026-10-25T01:10", "2026-10-25T01:30"),
        ("22:00-02:30", "Europe/Berlin", "2026-10-25T01:30", None),
        ("22:00-08:00", "Europe/Berlin", "2026-10-24T20:30", "2026-10-25T07:00"),
        # They go from 2:00 to 3:00 on 29 March, at 1:00 UTC.
        ("22:00-02:30", "Europe/Berlin", "2026-03-29T00:30", "2026-03-29T01:00"),
        ("22:00-02:30", "Europe/Berlin", "2026-03-29T01:00", None),
        ("02:10-02:50", "Europe/Berlin", "2026-03-29T01:00", None),
        ("12:00-14:00", "Europe/Berlin", "2026-06-01T11:59", "2026-06-01T12:00"),
        ("12:00-14:00", "Europe/Berlin", "2026-06-01T12:00", None),
        # Half an hour twice: 1:30 to 2:00 on 5 April, from 14:30 and from 15:00 UTC the day before.
        ("21:00-01:45", "Australia/Lord_Howe", "2026-04-04T14:40", "2026-04-04T14:45"),
        ("21:00-01:45", "Australia/Lord_Howe", "2026-04-04T15:05", "2026-04-04T15:15"),
    ],
)
async def test_they_end_when_the_clock_on_the_wall_shows_it(
    shared_conn: Conn, hours: str, zone: str, now: str, until: str | None
) -> None:
    query = (
        "SELECT to_char(q.until AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI')"
        " FROM mailqueue.quiet_until(%s, ARRAY[NULL, 'Mars/Base', %s, 'UTC'], %s) AS q"
    )
    assert await make.scalar(shared_conn, query, hours, zone, f"{now}Z") == until
