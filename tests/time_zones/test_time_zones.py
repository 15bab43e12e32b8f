"""Local times and instants in SQL, compared with those of Python's zoneinfo."""

import io
import random
from datetime import UTC, datetime, timedelta
from importlib import resources
from zoneinfo import ZoneInfo

import pytest
import tzdata
from psycopg import errors

from mailqueue.db.fetch import Conn
from mailqueue.db.time_zones import END, FIRST, load_time_zones, read_time_zones
from tests import make

pytestmark = pytest.mark.anyio

NAMES = (resources.files(tzdata) / "zones").read_text("utf-8").split()
HOSTILE = ["Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca", "America/Nuuk", "UTC"]
HOUR = timedelta(hours=1)


def zone(name: str) -> ZoneInfo:
    data = (resources.files(tzdata) / "zoneinfo" / name).read_bytes()
    return ZoneInfo.from_file(io.BytesIO(data), name)


def instants_of(wall: datetime, rules: ZoneInfo) -> list[datetime]:
    """Return the instants at which clocks show a local time, as zoneinfo sees it."""
    both = {wall.replace(tzinfo=rules, fold=fold).astimezone(UTC) for fold in (0, 1)}
    return sorted(at for at in both if at.astimezone(rules).replace(tzinfo=None) == wall)


def near_changes(name: str, chance: random.Random) -> list[datetime]:
    """Return some instants within hours of changes of a zone's offset, and some others."""
    _, zones = read_time_zones()
    starts = next((one.starts for one in zones if one.name == name), (FIRST,))
    chosen = chance.sample(starts, min(6, len(starts)))
    near = [at + chance.uniform(-3, 3) * HOUR for at in chosen]
    return [*near, *(FIRST + chance.random() * (END - FIRST - 24 * HOUR) for _ in range(3))]


async def test_local_times_of_all_zones_agree_with_zoneinfo(conn: Conn) -> None:
    chance = random.Random(7)
    names, _ = read_time_zones()
    asked = [
        (name, at.replace(microsecond=0))
        for name in NAMES
        for at in [FIRST + chance.random() * (END - FIRST - 24 * HOUR) for _ in range(5)]
    ]
    found = await make.rows(
        conn,
        "SELECT mailqueue.utc_to_local(a.at, a.name)"
        " FROM unnest(%s::text[], %s::timestamptz[]) WITH ORDINALITY AS a (name, at, n)"
        " ORDER BY a.n",
        [name for name, _ in asked],
        [at for _, at in asked],
    )

    assert names.keys() == set(NAMES)
    zones = {name: zone(name) for name in NAMES}
    assert [one for (one,) in found] == [
        at.astimezone(zones[name]).replace(tzinfo=None) for name, at in asked
    ]


@pytest.mark.parametrize("name", [*HOSTILE, "Europe/Berlin", "America/St_Johns", "Asia/Gaza"])
async def test_instants_of_local_times_near_changes_agree_with_zoneinfo(
    conn: Conn, name: str
) -> None:
    rules, chance = zone(name), random.Random(name)
    walls = [
        at.astimezone(rules).replace(tzinfo=None, microsecond=0) + shift
        for at in near_changes(name, chance)
        for shift in (-HOUR, -HOUR / 2, timedelta(0), HOUR / 2, HOUR)
    ]

    found = await make.rows(
        conn,
        "SELECT mailqueue.local_instants(a.wall, %s), mailqueue.local_to_utc(a.wall, %s)"
        " FROM unnest(%s::timestamp[]) WITH ORDINALITY AS a (wall, n) ORDER BY a.n",
        name,
        name,
        walls,
    )

    for wall, (instants, at) in zip(walls, found, strict=True):
        expected = instants_of(wall, rules)
        assert [one.astimezone(UTC) for one in instants] == expected, wall
        if expected:
            assert at == expected[0], wall
        else:  # the first moment after a gap: clocks show the time before it until then
            before = (at - timedelta(seconds=1)).astimezone(rules).replace(tzinfo=None)
            after = at.astimezone(rules).replace(tzinfo=None)
            assert before < wall < after, wall


async def test_a_gap_and_a_fold_have_the_instants_that_people_expect(conn: Conn) -> None:
    (found,) = await make.rows(
        conn,
        """
        SELECT mailqueue.local_to_utc('2027-03-28 02:30', 'Europe/Berlin'),
               mailqueue.local_to_utc('2027-10-31 02:30', 'Europe/Berlin'),
               cardinality(mailqueue.local_instants('2027-10-31 02:30', 'Europe/Berlin')),
               mailqueue.local_to_utc('2027-10-03 02:15', 'Australia/Lord_Howe')
        """,
    )

    assert found == (
        datetime(2027, 3, 28, 1, tzinfo=UTC),
        datetime(2027, 10, 31, 0, 30, tzinfo=UTC),
        2,
        datetime(2027, 10, 2, 15, 30, tzinfo=UTC),
    )


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("local_to_utc('2027-01-01', 'Mars/Olympus')", errors.InvalidParameterValue),
        ("local_to_utc('2061-01-01', 'UTC')", errors.DatetimeFieldOverflow),
        ("local_to_utc('infinity', 'UTC')", errors.DatetimeFieldOverflow),
        ("utc_to_local('-infinity', 'UTC')", errors.DatetimeFieldOverflow),
        ("local_instants('294276-12-31', 'Europe/Berlin')", errors.DatetimeFieldOverflow),
    ],
)
async def test_what_no_rule_covers_is_refused_by_name(
    conn: Conn, call: str, error: type[Exception]
) -> None:
    with pytest.raises(error, match=r"time_zone: there is no time zone|rules of time zones end"):
        await conn.execute(f"SELECT mailqueue.{call}".encode())


async def test_a_time_before_the_first_rule_has_the_first_offset(conn: Conn) -> None:
    (found,) = await make.rows(
        conn,
        "SELECT mailqueue.utc_to_local('1990-07-01Z', 'Asia/Tokyo') = '1990-07-01 09:00',"
        " mailqueue.local_to_utc('0001-01-01', 'Asia/Tokyo')"
        " = '0001-01-01Z'::timestamptz - interval '9 hours'",
    )

    assert found == (True, True)


async def test_rules_of_a_newer_release_replace_those_of_an_older_one(conn: Conn) -> None:
    await conn.execute(
        "UPDATE mailqueue.time_zone_releases SET release = '2020a';"
        "UPDATE mailqueue.time_zone_offsets SET utc_offset = '1 hour' WHERE zone = 'UTC';"
        "INSERT INTO mailqueue.time_zones VALUES ('Mars/Olympus', 'UTC');"
        "INSERT INTO mailqueue.time_zone_offsets VALUES ('Asia/Tokyo', '2040-01-01Z', '1 hour')"
    )

    assert await load_time_zones(conn)

    assert await make.rows(
        conn,
        "SELECT mailqueue.time_zone_release(), mailqueue.known_zone('Mars/Olympus'),"
        " mailqueue.utc_to_local('2030-01-01Z', 'UTC')::text,"
        " mailqueue.utc_to_local('2041-01-01Z', 'Asia/Tokyo')::text",
    ) == [(tzdata.IANA_VERSION, None, "2030-01-01 00:00:00", "2041-01-01 09:00:00")]
    assert not await load_time_zones(conn)


async def test_rules_of_an_older_release_change_nothing(conn: Conn) -> None:
    await conn.execute("UPDATE mailqueue.time_zone_releases SET release = '9999a'")

    assert not await load_time_zones(conn)

    assert await make.rows(conn, "SELECT mailqueue.time_zone_release()") == [("9999a",)]
