"""A schedule that recurs: each occurrence runs once, missed ones by its policy."""

from datetime import timedelta
from typing import Any

import pytest

from mailqueue.db.fetch import Conn
from tests import make
from tests.schedules import turning

pytestmark = pytest.mark.anyio
HOUR = timedelta(hours=1)


async def _hourly(conn: Conn, **given: Any) -> Any:
    """Add a schedule that runs each hour, planned by a worker; return its id."""
    asked = {"schedule_type": "cron", "cron_expression": "0 * * * *", "timezone": "UTC"} | given
    made = await turning.put(conn, "hourly", **asked)
    await turning.turn(conn)
    return made


async def _move(conn: Conn, schedule_id: Any, by: timedelta) -> None:
    """Make the next occurrence of a schedule an earlier one."""
    await make.rows(
        conn,
        "UPDATE mailqueue.schedules SET next_run_at = next_run_at - %s, run_at = run_at - %s,"
        " next_local = next_local - %s WHERE id = %s RETURNING 1",
        by,
        by,
        by,
        schedule_id,
    )


async def test_what_sql_adds_is_planned_by_a_worker_and_makes_no_mail_yet(conn: Conn) -> None:
    made = await _hourly(conn)

    found = await turning.row_of(conn, made)
    assert (found["status"], found["plan_after"], found["run_count"]) == ("pending", None, 0)
    assert found["next_run_at"].endswith(":00:00+00:00")
    assert found["run_at"] == found["next_run_at"]
    assert await turning.queued(conn) == 0


async def test_a_run_and_the_next_occurrence_are_written_together(conn: Conn) -> None:
    made = await _hourly(conn)
    first = (await turning.row_of(conn, made))["next_run_at"]
    await _move(conn, made, HOUR)
    await conn.execute("UPDATE mailqueue.schedules SET missed = 'all'")

    assert await turning.turn(conn) == 1

    found = await turning.row_of(conn, made)
    assert (found["next_run_at"], found["run_count"]) == (first, 1)
    (run,) = await turning.runs_of(conn, made)
    assert (run["number"], run["queued"], run["status"]) == (1, 1, "done")
    assert found["last_run_at"] == run["occurrence"]


@pytest.mark.parametrize(("missed", "expected"), [("skip", 0), ("latest", 1), ("all", 5)])
async def test_missed_occurrences_run_by_the_policy(conn: Conn, missed: str, expected: int) -> None:
    """Five occurrences, of which the last is between 5 minutes and an hour old."""
    made = await turning.put(
        conn,
        schedule_type="cron",
        # A minute at which no occurrence has just come.
        cron_expression=f"{await _minute(conn)} * * * *",
        timezone="UTC",
        missed=missed,
    )
    await turning.turn(conn)
    planned = (await turning.row_of(conn, made))["next_run_at"]
    await _move(conn, made, 5 * HOUR)

    for _ in range(6):
        await turning.turn(conn)

    found = await turning.row_of(conn, made)
    assert found["next_run_at"] == planned
    assert found["run_count"] == expected == await turning.queued(conn)
    occurrences = [one["occurrence"] for one in await turning.runs_of(conn, made)]
    assert len(set(occurrences)) == expected
    assert (found["last_missed_at"] is None) == (missed == "all")


async def _minute(conn: Conn) -> int:
    found = await make.scalar(
        conn, "SELECT extract(minute FROM clock_timestamp() - interval '30 min')::integer"
    )
    assert isinstance(found, int)
    return found


async def test_all_makes_up_for_the_last_hundred_at_most(conn: Conn) -> None:
    made = await turning.put(
        conn,
        schedule_type="cron",
        cron_expression=f"{await _minute(conn)} * * * *",
        timezone="UTC",
        missed="all",
    )
    await turning.turn(conn)
    await _move(conn, made, 200 * HOUR)
    due = (await turning.row_of(conn, made))["next_run_at"]

    await turning.turn(conn)

    (run,) = await turning.runs_of(conn, made)
    late = await make.scalar(
        conn,
        "SELECT extract(epoch FROM %s::timestamptz - %s)::bigint / 3600",
        run["occurrence"],
        due,
    )
    assert late == 100
    assert (await turning.row_of(conn, made))["last_missed_at"] == due


async def test_an_occurrence_a_moment_ago_is_not_missed(conn: Conn) -> None:
    made = await _hourly(conn, missed="skip")
    await turning.due(conn, made, ago=timedelta(minutes=4))
    await turning.turn(conn)
    assert (await turning.row_of(conn, made))["run_count"] == 1


async def test_max_runs_ends_a_schedule(conn: Conn) -> None:
    made = await _hourly(conn, max_runs=2)
    for _ in range(2):
        await turning.due(conn, made)
        await turning.turn(conn)

    found = await turning.row_of(conn, made)
    assert (found["status"], found["run_count"]) == ("completed", 2)
    assert found["last_error"] == "it has run 2 times"


async def test_no_occurrence_comes_after_the_end(conn: Conn) -> None:
    made = await _hourly(conn)
    await turning.due(conn, made)
    await conn.execute("UPDATE mailqueue.schedules SET ends_at = clock_timestamp()")
    await turning.turn(conn)
    found = await turning.row_of(conn, made)
    assert (found["status"], found["run_count"], found["next_run_at"]) == ("completed", 1, None)


@pytest.mark.parametrize(("missed", "expected"), [("skip", 0), ("latest", 1), ("all", 3)])
async def test_no_missed_occurrence_after_the_end_is_made_up_for(
    conn: Conn, missed: str, expected: int
) -> None:
    """Of six that were missed, three are before the end."""
    cron = f"{await _minute(conn)} * * * *"
    made = await _hourly(conn, cron_expression=cron, missed=missed)
    await _move(conn, made, 6 * HOUR)
    await conn.execute("UPDATE mailqueue.schedules SET ends_at = next_run_at + interval '150 min'")

    for _ in range(7):
        await turning.turn(conn)

    found = await turning.row_of(conn, made)
    assert (found["status"], found["run_count"]) == ("completed", expected)
    assert all(one["occurrence"] <= found["ends_at"] for one in await turning.runs_of(conn, made))


async def test_runs_by_request_count_among_the_most_that_a_schedule_has(conn: Conn) -> None:
    made = await _hourly(conn, max_runs=2)
    project = await make.project_named(conn)
    for _ in range(2):
        await make.rows(conn, "SELECT * FROM mailqueue.run_schedule(%s, %s)", project, made)
        await turning.make_runs(conn)
    await _move(conn, made, HOUR)

    await turning.turn(conn)

    found = await turning.row_of(conn, made)
    assert (found["status"], found["run_count"]) == ("completed", 2)
    assert found["last_error"] == "it has run 2 times"


@pytest.mark.parametrize(("overlap", "runs", "missed"), [("queue", 1, False), ("skip", 1, True)])
async def test_an_occurrence_waits_for_the_run_before_or_is_left_out(
    conn: Conn, overlap: str, runs: int, missed: bool
) -> None:
    made = await _hourly(conn, overlap=overlap)
    await make.rows(
        conn, "SELECT * FROM mailqueue.run_schedule(%s, %s)", await make.project_named(conn), made
    )
    await turning.due(conn, made)

    await turning.turn(conn)

    assert len(await turning.runs_of(conn, made)) == runs
    found = await turning.row_of(conn, made)
    assert (found["last_missed_at"] is not None) == missed
    if overlap == "queue":
        assert found["last_error"] == "the run before is still being made"
        await turning.make_runs(conn)
        await conn.execute("UPDATE mailqueue.schedules SET run_at = now()")
        await turning.turn(conn)
        assert len(await turning.runs_of(conn, made)) == 2


async def test_a_claim_that_was_taken_away_writes_nothing(conn: Conn) -> None:
    """The first commit decides between a cancellation and a run."""
    made = await _hourly(conn)
    await turning.due(conn, made)
    project = await make.project_named(conn)

    async def cancel() -> None:
        await make.rows(conn, "SELECT * FROM mailqueue.cancel_schedule(%s, %s)", project, made)

    await turning.turn(conn, between=cancel)

    found = await turning.row_of(conn, made)
    assert (found["status"], found["run_count"]) == ("cancelled", 0)
    assert await turning.runs_of(conn, made) == []
    assert await turning.queued(conn) == 0


async def test_new_rules_of_time_zones_compute_what_lies_ahead_again(conn: Conn) -> None:
    made = await _hourly(conn)
    before = (await turning.row_of(conn, made))["next_run_at"]
    await conn.execute("UPDATE mailqueue.time_zone_releases SET release = '2099z'")
    await conn.execute(
        "UPDATE mailqueue.time_zone_offsets SET utc_offset = '30 min'"
        " WHERE zone = (SELECT rules FROM mailqueue.time_zones WHERE name = 'UTC')"
    )

    assert await make.scalar(conn, "SELECT mailqueue.replan_schedules(100)") == 1
    assert await make.scalar(conn, "SELECT mailqueue.replan_schedules(100)") == 0
    await turning.turn(conn)

    found = await turning.row_of(conn, made)
    assert found["zone_release"] == "2099z"
    assert found["next_run_at"] != before
    assert ":30:00" in found["next_run_at"]


async def test_a_hostile_expression_in_a_row_fails_that_row_alone(conn: Conn) -> None:
    good = await _hourly(conn)
    bad = await turning.put(
        conn, "bad", schedule_type="cron", cron_expression="0 * * * *", timezone="UTC"
    )
    await turning.turn(conn)
    await conn.execute(
        "UPDATE mailqueue.schedules SET cron_expression = '99 * * * *' WHERE id = %s", [bad]
    )
    await turning.due(conn, good)
    await turning.due(conn, bad)

    await turning.turn(conn)

    assert (await turning.row_of(conn, good))["run_count"] == 1
    found = await turning.row_of(conn, bad)
    assert found["run_count"] == 0
    assert "cron_expression" in found["last_error"]
