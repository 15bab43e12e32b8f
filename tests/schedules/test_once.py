"""A schedule that runs once: its mail is made when it is due, once."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from psycopg import errors

from mailqueue.db.fetch import Conn
from tests import make
from tests.schedules import turning

pytestmark = pytest.mark.anyio
LATER = (datetime.now(UTC) + timedelta(days=1)).isoformat()


async def test_what_is_not_due_stays(conn: Conn) -> None:
    await turning.put(conn, schedule_type="once", run_at=LATER)
    assert await turning.turn(conn) == 0
    assert await turning.queued(conn) == 0


async def test_a_due_schedule_makes_its_mail_once_and_is_completed(conn: Conn) -> None:
    made = await turning.put(conn, "hello", schedule_type="once", run_at=LATER)
    await turning.due(conn, made)

    assert await turning.turn(conn) == 1
    assert await turning.turn(conn) == 0

    found = await turning.row_of(conn, made)
    assert (found["status"], found["run_count"], found["next_run_at"]) == ("completed", 1, None)
    (run,) = await turning.runs_of(conn, made)
    assert (run["status"], run["queued"], run["batch_ids"]) == ("done", 1, [run["id"]])
    assert await turning.queued(conn) == 1
    batch = await make.rows(
        conn,
        "SELECT created_by, cardinality(email_ids) FROM mailqueue.batches WHERE id = %s",
        run["id"],
    )
    assert batch == [("schedule hello", 1)]


async def test_a_run_that_exists_is_not_made_again(conn: Conn) -> None:
    """Such as after a backup was restored, or the row was requeued."""
    made = await turning.put(conn, schedule_type="once", run_at=LATER)
    await turning.due(conn, made)
    due = (await turning.row_of(conn, made))["next_run_at"]
    await turning.turn(conn)
    await make.rows(
        conn,
        "UPDATE mailqueue.schedules SET status = 'pending', finished_at = NULL, next_run_at = %s,"
        " next_local = now() WHERE id = %s RETURNING 1",
        due,
        made,
    )

    assert await turning.turn(conn) == 1

    assert await turning.queued(conn) == 1
    assert (await turning.row_of(conn, made))["run_count"] == 1


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"schedule_type": "once"}, "run_at"),
        ({"schedule_type": "once", "run_at": "2020-01-01T00:00:00Z"}, "run_at"),
        ({"schedule_type": "once", "run_at": "2999-01-01T00:00:00Z"}, "run_at"),
        ({"schedule_type": "once", "run_at": "tomorrow"}, "run_at"),
        ({"schedule_type": "once", "run_at": "2027-02-30T00:00:00Z"}, "run_at"),
        ({"schedule_type": "once", "run_at": "2027-02-20T00:00:00+99:99"}, "run_at"),
        ({"schedule_type": "once", "run_at": "294276-12-31T00:00:00Z"}, "run_at"),
        ({"schedule_type": "once", "run_at": "infinity"}, "run_at"),
        ({"schedule_type": "once", "run_at": LATER, "is_test": "maybe"}, "is_test"),
        ({"schedule_type": "once", "run_at": LATER, "template_version": {}}, "template_version"),
        ({"schedule_type": "once", "run_at": LATER, "template_version": "1"}, "template_version"),
        ({"schedule_type": "never"}, "schedule_type"),
        ({"schedule_type": "once", "run_at": LATER, "timezone": "Europe/Atlantis"}, "timezone"),
        (
            {"schedule_type": "once", "run_at": LATER, "cron_expression": "* * * * *"},
            "cron_expression",
        ),
        ({"schedule_type": "once", "run_at": LATER, "missed": "some"}, "missed"),
        ({"schedule_type": "once", "run_at": LATER, "overlap": "some"}, "overlap"),
        ({"schedule_type": "once", "run_at": LATER, "max_runs": 0}, "max_runs"),
        ({"schedule_type": "once", "run_at": LATER, "spread_seconds": -1}, "spread_seconds"),
        ({"schedule_type": "once", "run_at": LATER, "payload": {"to": []}}, "to"),
        ({"schedule_type": "once", "run_at": LATER, "payload": {"to": ["nobody"]}}, "to"),
        ({"schedule_type": "once", "run_at": LATER, "payload": {"to": ["a@b@c"]}}, "to"),
        ({"schedule_type": "once", "run_at": LATER, "payload": {"to": [7]}}, "to"),
        (
            {
                "schedule_type": "once",
                "run_at": LATER,
                "payload": {"to": [{"email": "ann@example.com", "timezone": "Moon/Base"}]},
            },
            "to",
        ),
        (
            {"schedule_type": "once", "run_at": LATER, "payload": {"to": ["ann@example.com"]}},
            "subject",
        ),
        ({"schedule_type": "once", "run_at": LATER, "payload": turning.RAW | {"moon": 1}}, "moon"),
        (
            {"schedule_type": "once", "run_at": LATER, "payload": turning.RAW | {"run_at": LATER}},
            "run_at",
        ),
        ({"schedule_type": "once", "run_at": LATER, "colour": "red"}, "colour"),
        (
            {
                "schedule_type": "once",
                "run_at": LATER,
                "template_slug": "none",
                "payload": {"to": ["ann@example.com"]},
            },
            "template",
        ),
    ],
)
async def test_what_cannot_be_is_refused_with_its_field(
    conn: Conn, given: dict[str, Any], field: str
) -> None:
    with pytest.raises(errors.InvalidParameterValue) as refused:
        async with conn.transaction():
            await turning.put(conn, **given)
    assert refused.value.diag.column_name == field


async def test_a_time_without_an_offset_follows_new_rules_of_time_zones(conn: Conn) -> None:
    given = {"schedule_type": "once", "timezone": "Europe/Berlin"}
    wall = await turning.put(conn, "wall", run_at="2034-07-01T09:00:00", **given)
    paused = await turning.put(conn, "paused", run_at="2034-07-01T09:00", **given)
    await conn.execute("SELECT mailqueue.pause_schedule('default', 'paused')")
    instant = await turning.put(conn, "instant", run_at="2034-07-01T09:00:00+02:00", **given)
    times = (
        "SELECT (once_at, next_run_at) = (x.at, x.at) AND (run_at = x.at OR status = 'paused')"
        " FROM mailqueue.schedules CROSS JOIN (SELECT timestamptz '2034-07-01Z' + %s AS at) AS x"
        " WHERE id = %s"
    )
    for one in (wall, paused, instant):
        assert await make.scalar(conn, times, timedelta(hours=7), one)
    # Summer time is over for good.
    await conn.execute(
        "UPDATE mailqueue.time_zone_releases SET release = '2099z';"
        "UPDATE mailqueue.time_zone_offsets SET utc_offset = '1 h' WHERE from_at > '2030-01-01Z'"
        " AND zone = (SELECT rules FROM mailqueue.time_zones WHERE name = 'Europe/Berlin')"
    )

    assert await make.scalar(conn, "SELECT mailqueue.replan_schedules(100)") == 2
    assert await make.scalar(conn, "SELECT mailqueue.replan_schedules(100)") == 0

    for one, hours in ((wall, 8), (paused, 8), (instant, 7)):
        assert await make.scalar(conn, times, timedelta(hours=hours), one)
    assert (await turning.row_of(conn, wall))["plan_after"] is None
    assert await turning.turn(conn) == 0, "nothing is due"
