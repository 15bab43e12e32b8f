"""Limit: no marketing is sent in the quiet hours of its recipient."""

from datetime import timedelta

import pytest

from mailqueue.db.fetch import Conn
from tests import make
from tests.contacts import people
from tests.mail.claim.steps import due_now
from tests.mail.limits.held_back.marketing import (
    HELD_BACK,
    around_now,
    change,
    handled,
    marketing,
    waits,
)

pytestmark = pytest.mark.anyio

RESCHEDULE = """
SELECT result FROM mailqueue.reschedule_emails(
    (SELECT project_id FROM mailqueue.email_queue WHERE id = %s), ARRAY[%s], now())
"""


async def test_marketing_waits_until_the_quiet_hours_end_and_other_mail_is_sent(
    conn: Conn,
) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    await change(conn, quiet_hours=await around_now(conn))
    late = await marketing(conn)
    invoice = await make.queued_email(conn, recipient_email="ann@example.com")

    assert await handled(conn, worker) == [invoice]

    until, why = await waits(conn, late)
    assert why.startswith("quiet hours, ")
    begins = await make.scalar(conn, "SELECT date_trunc('minute', now() + interval '60 min')")
    assert abs(until - begins) <= timedelta(minutes=1)
    told = await make.scalar(conn, "SELECT mailqueue.why(%s)", late)
    assert told.startswith(f"held back until {until:%Y-%m-%d %H:%M:%S} UTC: {why}; to change")

    await change(conn, quiet_hours=None)
    await due_now(conn)
    assert await handled(conn, worker) == [late]


@pytest.mark.parametrize("state", HELD_BACK)
async def test_the_commands_of_why_send_one_email_that_is_held_back(conn: Conn, state: str) -> None:
    """Another email of the project that is held back stays where it is."""
    late = await HELD_BACK[state](conn)
    told = await make.scalar(conn, "SELECT mailqueue.why(%s)", late)
    other = await marketing(conn, "ann@example.com", project="shop")
    worker = await make.worker(conn)
    assert await handled(conn, worker) == []
    await change(conn, "shop", quiet_hours=None, frequency_cap=None)
    assert await handled(conn, worker) == [], "the change alone sends none of them"

    moved = await make.rows(conn, RESCHEDULE, late, late)

    assert f"mailqueue email reschedule {late} --run-at TIME" in told
    assert moved == [("rescheduled",)]
    assert await handled(conn, worker) == [late]
    assert (await waits(conn, other))[1].startswith(state)


@pytest.mark.parametrize("state", HELD_BACK)
async def test_why_names_only_commands_that_a_retry_that_is_held_back_takes(
    conn: Conn, state: str
) -> None:
    late = await HELD_BACK[state](conn)
    query = "UPDATE mailqueue.email_queue SET attempts = 1 WHERE id = %s"
    await conn.execute(query, (late,))

    told = await make.scalar(conn, "SELECT mailqueue.why(%s)", late)

    assert f": {state}, " in told
    assert await make.rows(conn, RESCHEDULE, late, late) == []
    assert "reschedule" not in told
    assert told.endswith(f"; to give it up: mailqueue email cancel {late}")


async def test_hours_are_those_of_the_contact_and_else_of_the_project(conn: Conn) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    project = await make.project_named(conn)
    await people.put(conn, project, "kiri@example.com", time_zone="Pacific/Auckland")
    await people.put(conn, project, "nobody@example.com")
    await change(conn, quiet_hours=await around_now(conn, "Pacific/Auckland"))
    night = await marketing(conn, "KIRI@example.com")
    day = [await marketing(conn, to) for to in ("ann@example.com", "nobody@example.com")]

    assert await handled(conn, worker) == day
    assert (await waits(conn, night))[1].endswith(" Pacific/Auckland")

    await change(conn, time_zone="Pacific/Auckland")
    another = await marketing(conn, "nobody@example.com")
    assert await handled(conn, worker) == []
    assert (await waits(conn, another))[1].endswith(" Pacific/Auckland")


async def test_a_zone_that_the_server_no_longer_knows_is_that_of_the_project(conn: Conn) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    await people.put(conn, await make.project_named(conn), time_zone="Europe/Berlin")
    await conn.execute("UPDATE mailqueue.contacts SET time_zone = 'Mars/Base'")
    await change(conn, quiet_hours=await around_now(conn))
    late = await marketing(conn)

    assert await handled(conn, worker) == []
    assert (await waits(conn, late))[1].endswith(" UTC")


async def test_mail_to_several_waits_for_the_last_of_them(conn: Conn) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    await people.put(
        conn, await make.project_named(conn), "kiri@example.com", time_zone="Pacific/Auckland"
    )
    await change(conn, quiet_hours=await around_now(conn, "Pacific/Auckland"))
    late = await marketing(conn, also_to=["kiri@example.com"])

    assert await handled(conn, worker) == []
    assert (await waits(conn, late))[1].endswith(" Pacific/Auckland")


@pytest.mark.parametrize("named", [None, "2 h"])
async def test_expiry_moves_with_mail_that_names_none_and_else_holds(
    named: str | None, conn: Conn
) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    await change(conn, quiet_hours=await around_now(conn))
    given = (
        {}
        if named is None
        else {"expires_at": await make.scalar(conn, f"SELECT now() + '{named}'")}
    )
    late = await marketing(conn, **given)
    query = "SELECT expires_at, expires_at - run_at FROM mailqueue.email_queue WHERE id = %s"
    [before] = await make.rows(conn, query, late)

    await handled(conn, worker)

    [after] = await make.rows(conn, query, late)
    assert after[1] == before[1] if named is None else after[0] == before[0]


async def test_test_mail_is_not_held_back(conn: Conn) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    await change(conn, quiet_hours=await around_now(conn), frequency_cap="1/1d")
    mails = [await marketing(conn) for _ in range(2)]
    await conn.execute("UPDATE mailqueue.email_queue SET is_test = true")

    assert sorted(await handled(conn, worker)) == sorted(mails)
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.marketing_counts") == 0


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"quiet_hours": "21-8"}, "quiet_hours"),
        ({"quiet_hours": "24:00-08:00"}, "quiet_hours"),
        ({"quiet_hours": "08:00-08:00"}, "quiet_hours"),
        ({"quiet_hours": "21:00-08:00 Europe/Berlin"}, "quiet_hours"),
        ({"quiet_hours": "x" * 100_000}, "quiet_hours"),
        ({"frequency_cap": "0/7d"}, "frequency_cap"),
        ({"frequency_cap": "101/7d"}, "frequency_cap"),
        ({"frequency_cap": "3/367d"}, "frequency_cap"),
        ({"frequency_cap": "3/7"}, "frequency_cap"),
        ({"frequency_cap": "9" * 100_000}, "frequency_cap"),
    ],
)
async def test_a_wrong_value_is_named(settings: dict[str, str], field: str, conn: Conn) -> None:
    with pytest.raises(Exception, match=f"^{field}: "):
        await change(conn, **settings)
