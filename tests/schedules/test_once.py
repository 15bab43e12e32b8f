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
