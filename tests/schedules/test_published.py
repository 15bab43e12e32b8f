"""Occurrences that published descriptions of cron promise, in seven zones over both changes.

Each case names what it follows from. DEBIAN is the manual page cron(8) of Debian, which has the
rules of Vixie cron: a fixed time that a change of less than three hours leaves out comes at once
after it, one that would come twice comes once, and what runs more often goes by the clock. CRONTAB
is crontab(5), CRONSIM and CRONITER are the README files of these packages, QUARTZ is the tutorial
on triggers of Quartz, whose days of the week count from 1 and are written here from 0.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.schedules import planning
from mailqueue.schedules.model import Recurrence
from tests.rows import each_row
from tests.schedules.zones import AGES, shifted

pytestmark = pytest.mark.anyio
DEBIAN, CRONTAB = "Debian, cron(8)", "crontab(5)"
CRONSIM, CRONITER, QUARTZ = "cronsim, README", "croniter, README", "Quartz, CronTrigger tutorial"
BERLIN, LONDON, NEW_YORK = "Europe/Berlin", "Europe/London", "America/New_York"
LORD_HOWE, AUCKLAND = "Australia/Lord_Howe", "Pacific/Auckland"
APIA, SAO_PAULO = "Pacific/Apia", "America/Sao_Paulo"

Case = tuple[str, str, str, str, str]
"""Source, expression, zone, the instant from which on, and occurrences, all in UTC."""
CASES: Sequence[Case] = (
    # Clocks that go forward: a fixed time of the gap comes at its end, the next day as usual.
    (DEBIAN, "30 2 * * *", BERLIN, "2026-03-28T12:00", "2026-03-29T01:00 2026-03-30T00:30"),
    (DEBIAN, "30 1 * * *", LONDON, "2026-03-28T12:00", "2026-03-29T01:00 2026-03-30T00:30"),
    (DEBIAN, "30 2 * * *", NEW_YORK, "2026-03-07T12:00", "2026-03-08T07:00 2026-03-09T06:30"),
    (DEBIAN, "15 2 * * *", LORD_HOWE, "2026-10-03T00:00", "2026-10-03T15:30 2026-10-04T15:15"),
    (DEBIAN, "30 2 * * *", AUCKLAND, "2026-09-26T00:00", "2026-09-26T14:00 2026-09-27T13:30"),
    # Clocks that go back: a fixed time comes once, at the first of the two.
    (DEBIAN, "30 2 * * *", BERLIN, "2026-10-24T12:00", "2026-10-25T00:30 2026-10-26T01:30"),
    (DEBIAN, "30 1 * * *", LONDON, "2026-10-24T12:00", "2026-10-25T00:30 2026-10-26T01:30"),
    (DEBIAN, "30 1 * * *", NEW_YORK, "2026-10-31T12:00", "2026-11-01T05:30 2026-11-02T06:30"),
    (DEBIAN, "45 1 * * *", LORD_HOWE, "2026-04-04T00:00", "2026-04-04T14:45 2026-04-05T15:15"),
    (DEBIAN, "30 2 * * *", AUCKLAND, "2026-04-04T00:00", "2026-04-04T13:30 2026-04-05T14:30"),
    # What runs each hour or more often goes by the clock: over the gap, and through the fold.
    (DEBIAN, "0 * * * *", BERLIN, "2026-03-28T23:30", "2026-03-29T00:00 2026-03-29T01:00"),
    (
        *(DEBIAN, "0 * * * *", BERLIN, "2026-10-24T23:30"),
        "2026-10-25T00:00 2026-10-25T01:00 2026-10-25T02:00",
    ),
    (
        *(DEBIAN, "*/30 * * * *", NEW_YORK, "2026-11-01T05:10"),
        "2026-11-01T05:30 2026-11-01T06:00 2026-11-01T06:30 2026-11-01T07:00",
    ),
    (
        *(DEBIAN, "*/30 * * * *", AUCKLAND, "2026-09-26T13:10"),
        "2026-09-26T13:30 2026-09-26T14:00 2026-09-26T14:30",
    ),
    (
        *(DEBIAN, "*/15 * * * *", LORD_HOWE, "2026-04-04T14:40"),
        "2026-04-04T14:45 2026-04-04T15:00 2026-04-04T15:15 2026-04-04T15:30",
    ),
    # Midnight that is left out, and half past eleven that comes twice.
    (CRONSIM, "0 0 * * *", SAO_PAULO, "2018-11-03T12:00", "2018-11-04T03:00 2018-11-05T02:00"),
    (CRONSIM, "30 23 * * *", SAO_PAULO, "2019-02-16T12:00", "2019-02-17T01:30 2019-02-18T02:30"),
    # The 30th of December 2011, a Friday, that Samoa left out.
    (
        *(CRONSIM, "0 * * * *", APIA, "2011-12-30T08:30"),
        "2011-12-30T09:00 2011-12-30T10:00 2011-12-30T11:00",
    ),
    (CRONSIM, "0 0 31 * *", APIA, "2011-12-29T00:00", "2011-12-30T10:00 2012-01-30T10:00"),
    # A day of the month or a day of the week: either is enough where both are given.
    (
        *(CRONTAB, "30 4 1,15 * 5", "UTC", "2026-01-01T00:00"),
        "2026-01-01T04:30 2026-01-02T04:30 2026-01-09T04:30 2026-01-15T04:30 2026-01-16T04:30",
    ),
    (CRONTAB, "5 4 * * sun", "UTC", "2026-01-01T00:00", "2026-01-04T04:05 2026-01-11T04:05"),
    (CRONTAB, "23 0-23/2 * * *", "UTC", "2026-01-01T00:00", "2026-01-01T00:23 2026-01-01T02:23"),
    (CRONTAB, "@daily", AUCKLAND, "2026-01-01T00:00", "2026-01-01T11:00 2026-01-02T11:00"),
    # The last day of a month, the last of a day of the week, and the third one.
    (
        *(QUARTZ, "15 10 L * *", "UTC", "2026-01-15T00:00"),
        "2026-01-31T10:15 2026-02-28T10:15 2026-03-31T10:15",
    ),
    (QUARTZ, "15 10 * * 5L", "UTC", "2026-01-01T00:00", "2026-01-30T10:15 2026-02-27T10:15"),
    (QUARTZ, "15 10 * * 5#3", "UTC", "2026-01-01T00:00", "2026-01-16T10:15 2026-02-20T10:15"),
    (
        *(CRONITER, "0 0 * * sat#1,sun#2", "UTC", "2026-01-01T00:00"),
        "2026-01-03T00:00 2026-01-11T00:00 2026-02-07T00:00 2026-02-08T00:00",
    ),
)


@pytest.fixture
async def zoned(conn: Conn) -> Conn:
    """A database with zones for the changes of the past."""
    for zone in (APIA, SAO_PAULO):
        await shifted(conn, zone)
    return conn


@each_row("source, cron, zone, after, expected", CASES)
async def test_occurrences_are_those_that_are_published(
    zoned: Conn, source: str, cron: str, zone: str, after: str, expected: str
) -> None:
    is_past = zone in (APIA, SAO_PAULO)
    rule = Recurrence(cron, f"Test/{zone}" if is_past else zone, is_local=False)
    ages = AGES if is_past else timedelta(0)
    since = datetime.fromisoformat(after).replace(tzinfo=UTC) + ages
    wanted = expected.split()
    found = await planning.preview(zoned, rule, after=since, until=None, count=len(wanted))
    told = [(one.at.astimezone(UTC) - ages).strftime("%Y-%m-%dT%H:%M") for one in found]
    assert told == wanted, source
