"""Birthdays follow their contacts, fire once in each year, and never not at all."""

from datetime import date, timedelta

import pytest

from mailqueue.db.fetch import Conn
from tests import make
from tests.timed_events import events

pytestmark = pytest.mark.anyio


async def local_today(conn: Conn, zone: str) -> date:
    found: date = await make.scalar(conn, "SELECT mailqueue.utc_to_local(now(), %s)::date", zone)
    return found


def born(day: date, *, year: int = 1988) -> date:
    """Return a date of birth in a leap year with the birthday of that day."""
    return day.replace(year=year)


async def test_a_contact_has_one_pending_birthday_in_its_own_zone(conn: Conn) -> None:
    await events.template(conn)
    await events.birthdays(conn)
    day = await local_today(conn, "Asia/Tokyo") + timedelta(days=10)

    ann = await events.contact(conn, date_of_birth=born(day), time_zone="Asia/Tokyo")

    assert await events.pending(conn, ann) == [(f"{day} 09:00", "Asia/Tokyo")]
    key = await make.scalar(conn, "SELECT idempotency_key FROM mailqueue.timed_events")
    assert key == f"birthday:{ann}:{day}"


async def test_a_rule_plans_contacts_that_were_there_before_and_its_end_removes_them(
    conn: Conn,
) -> None:
    await events.template(conn)
    day = await local_today(conn, "UTC") + timedelta(days=30)
    people = [
        await events.contact(conn, f"p{n}@example.com", date_of_birth=born(day)) for n in range(250)
    ]
    await events.birthdays(conn)
    await events.planned(conn)
    counted = "SELECT count(*) FROM mailqueue.timed_events WHERE status = 'pending'"
    assert await make.scalar(conn, counted) == len(people)

    project_id = await make.project_named(conn)
    await conn.execute("SELECT mailqueue.remove_birthday_rule(%s, 'tests')", (project_id,))
    await events.planned(conn)

    assert await make.scalar(conn, counted) == 0


async def test_the_next_birthday_is_made_in_the_transaction_that_completes_one(conn: Conn) -> None:
    await events.template(conn)
    await events.birthdays(conn)
    day = await local_today(conn, "UTC") + timedelta(days=1)
    ann = await events.contact(conn, date_of_birth=born(day))
    await events.make_due(conn)

    await events.fire(conn)

    assert await events.mails(conn) == 1
    states = await make.rows(
        conn,
        "SELECT status, executed_at IS NOT NULL, email_id IS NOT NULL, version"
        " FROM mailqueue.timed_event_status ORDER BY target_timestamp_utc",
    )
    assert states == [("COMPLETED", True, True, 4), ("PENDING", False, False, 1)]
    assert [at for at, _ in await events.pending(conn, ann)] == [
        f"{day.replace(year=day.year + 1)} 09:00"
    ]


async def test_from_auckland_to_honolulu_on_the_eve_and_back_is_one_mail(conn: Conn) -> None:
    await events.template(conn)
    await events.birthdays(conn)
    day = await local_today(conn, "Pacific/Auckland") + timedelta(days=1)
    ann = await events.contact(conn, date_of_birth=born(day), time_zone="Pacific/Auckland")
    for zone in ("Pacific/Honolulu", "Pacific/Auckland"):
        await events.change(conn, ann, time_zone=zone)
        assert await events.pending(conn, ann) == [(f"{day} 09:00", zone)]
    await events.make_due(conn)
    await events.fire(conn)

    for zone in ("Pacific/Honolulu", "Pacific/Auckland", "Pacific/Honolulu"):
        await events.change(conn, ann, time_zone=zone)
        assert await events.pending(conn, ann) == [
            (f"{day.replace(year=day.year + 1)} 09:00", zone)
        ]
    await events.fire(conn)

    assert await events.mails(conn) == 1


async def test_a_birthday_whose_hour_has_passed_in_the_new_zone_fires_at_once(conn: Conn) -> None:
    """Pending in the west, it would otherwise be left out by a move to the east."""
    await events.template(conn)
    await events.birthdays(conn, local_time="00:00")
    day = await local_today(conn, "Pacific/Kiritimati")
    if day == await local_today(conn, "Pacific/Pago_Pago"):
        day += timedelta(days=1)
    ann = await events.contact(conn, date_of_birth=born(day), time_zone="Pacific/Pago_Pago")
    await events.change(conn, ann, time_zone="Pacific/Kiritimati")
    if day > await local_today(conn, "Pacific/Kiritimati"):
        await events.make_due(conn)

    await events.fire(conn)

    assert await events.mails(conn) == 1


async def test_a_change_while_a_worker_has_the_event_neither_repeats_nor_loses_it(
    conn: Conn,
) -> None:
    await events.template(conn)
    await events.birthdays(conn)
    day = await local_today(conn, "Pacific/Auckland") + timedelta(days=1)
    ann = await events.contact(conn, date_of_birth=born(day), time_zone="Pacific/Auckland")
    await events.make_due(conn)
    claimed = await events.claim(conn)

    await events.change(conn, ann, time_zone="Pacific/Honolulu")
    other = born(day + timedelta(days=20))
    await events.change(conn, ann, date_of_birth=other)
    await events.settle(conn, claimed)
    await events.fire(conn)

    assert await events.mails(conn) == 1
    found = await events.pending(conn, ann)
    year = day.year + 1
    assert [at[:4] for at, _ in found] == [str(year)]
    assert found == [(f"{other.replace(year=year)} 09:00", "Pacific/Honolulu")]


async def test_a_corrected_date_of_birth_moves_what_is_pending(conn: Conn) -> None:
    await events.template(conn)
    await events.birthdays(conn)
    today = await local_today(conn, "UTC")
    ann = await events.contact(conn, date_of_birth=born(today + timedelta(days=5)))
    (first,) = await make.rows(conn, "SELECT id, version FROM mailqueue.timed_events")

    await events.change(conn, ann, date_of_birth=born(today + timedelta(days=3)))

    assert [at for at, _ in await events.pending(conn, ann)] == [
        f"{today + timedelta(days=3)} 09:00"
    ]
    (moved,) = await make.rows(conn, "SELECT id, version FROM mailqueue.timed_events")
    assert moved == (first[0], first[1] + 1)

    await events.change(conn, ann, date_of_birth=None)
    assert await events.pending(conn, ann) == []


async def test_a_removed_contact_removes_its_events_in_the_same_transaction(conn: Conn) -> None:
    await events.template(conn)
    await events.birthdays(conn)
    day = await local_today(conn, "UTC") + timedelta(days=2)
    ann = await events.contact(conn, date_of_birth=born(day))
    await events.contact(conn, "bob@example.com", date_of_birth=born(day))

    await conn.execute(
        "SELECT mailqueue.remove_contact(%s, %s)", (await make.project_named(conn), ann)
    )

    left = await make.rows(conn, "SELECT contact_id FROM mailqueue.timed_events")
    assert len(left) == 1
    assert left[0][0] != ann


@pytest.mark.parametrize(
    ("leap_day", "year", "expected"),
    [
        ("february_28", 2027, "2027-02-28"),
        ("march_1", 2027, "2027-03-01"),
        ("february_28", 2028, "2028-02-29"),
        ("march_1", 2028, "2028-02-29"),
        ("february_28", 2100, "2100-02-28"),
        ("march_1", 2000, "2000-02-29"),
    ],
)
async def test_birthdays_of_29_february(
    conn: Conn, leap_day: str, year: int, expected: str
) -> None:
    query = "SELECT mailqueue.birthday_in(%s, '1988-02-29', %s)::text"
    assert await make.scalar(conn, query, year, leap_day) == expected


async def test_each_year_of_a_leap_day_has_one_birthday(conn: Conn) -> None:
    """Through five years, each completed in turn, under both settings alternately."""
    await events.template(conn)
    await events.birthdays(conn)
    ann = await events.contact(conn, date_of_birth=date(1988, 2, 29))
    years = []
    for turn in range(5):
        await events.birthdays(conn, leap_day=("march_1", "february_28")[turn % 2])
        await events.planned(conn)
        ((at, _),) = await events.pending(conn, ann)
        years.append(int(at[:4]))
        await events.make_due(conn)
        await events.fire(conn)

    assert years == list(range(years[0], years[0] + 5))
    assert await events.mails(conn) == 5


async def test_an_erased_contact_has_no_birthday(conn: Conn) -> None:
    await events.template(conn)
    await events.birthdays(conn)
    day = await local_today(conn, "UTC") + timedelta(days=2)
    await events.contact(conn, date_of_birth=born(day))

    await conn.execute(
        "SELECT mailqueue.begin_erasure(%s, '{ann@example.com}', false, 'tests')",
        (await make.project_named(conn),),
    )

    assert await make.rows(conn, "SELECT id FROM mailqueue.timed_events") == []
