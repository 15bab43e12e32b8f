"""Schedules are paused, resumed, cancelled, run at once and explained."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg import errors

from mailqueue.db.fetch import Conn
from mailqueue.templates.model import NewText
from tests import make
from tests.schedules import turning
from tests.templates.making import published, put_in_force, version_of

pytestmark = pytest.mark.anyio
LATER = (datetime.now(UTC) + timedelta(days=1)).isoformat()
DAILY = {"schedule_type": "cron", "cron_expression": "0 9 * * *", "timezone": "UTC"}


async def _does(conn: Conn, verb: str, schedule_id: UUID) -> Any:
    project = await make.project_named(conn)
    (found,) = await make.rows(
        conn, f"SELECT * FROM mailqueue.{verb}_schedule(%s, %s, 'tests')", project, schedule_id
    )
    return found[0] if len(found) == 1 else found


async def test_a_paused_schedule_makes_no_mail_until_it_is_resumed(conn: Conn) -> None:
    made = await turning.put(conn, **DAILY)
    await turning.turn(conn)
    assert await _does(conn, "pause", made) == "paused"
    await turning.due(conn, made)
    await make.rows(conn, "SELECT mailqueue.why(%s)", made)
    assert await turning.turn(conn) == 0
    assert "paused by tests" in await make.scalar(conn, "SELECT mailqueue.why(%s)", made)

    assert await _does(conn, "resume", made) == "pending"
    await turning.turn(conn)

    found = await turning.row_of(conn, made)
    assert (found["run_count"], found["status"]) == (0, "pending")
    assert datetime.fromisoformat(found["next_run_at"]) > datetime.now(UTC)


async def test_skipping_leaves_one_occurrence_out(conn: Conn) -> None:
    made = await turning.put(conn, **DAILY)
    await turning.turn(conn)
    before = datetime.fromisoformat((await turning.row_of(conn, made))["next_run_at"])

    assert await _does(conn, "skip", made) == ("pending", before)
    assert await _does(conn, "skip", made) == ("unplanned", None)
    await turning.turn(conn)

    after = datetime.fromisoformat((await turning.row_of(conn, made))["next_run_at"])
    assert after - before == timedelta(days=1)
    once = await turning.put(conn, schedule_type="once", run_at=LATER)
    assert await _does(conn, "skip", once) == ("once", None)


async def test_a_run_by_request_is_beside_the_occurrences(conn: Conn) -> None:
    made = await turning.put(conn, **DAILY)
    await turning.turn(conn)
    before = (await turning.row_of(conn, made))["next_run_at"]
    state, run_id = await _does(conn, "run", made)
    assert state == "pending"
    await turning.make_runs(conn)

    (run,) = await turning.runs_of(conn, made)
    assert (run["id"], run["started_by"], run["queued"]) == (str(run_id), "request", 1)
    found = await turning.row_of(conn, made)
    assert (found["next_run_at"], found["run_count"]) == (before, 1)


async def test_cancelling_says_whether_it_had_run(conn: Conn) -> None:
    waiting = await turning.put(conn, schedule_type="once", run_at=LATER)
    assert await _does(conn, "cancel", waiting) == ("cancelled", None, None, 0)
    ran = await turning.put(conn, schedule_type="once", run_at=LATER)
    await turning.due(conn, ran)
    await turning.turn(conn)
    assert await _does(conn, "cancel", ran) == ("completed", 1, 1, 0)
    assert await _does(conn, "cancel", uuid4()) == ("missing", None, None, 0)


async def test_a_schedule_that_ran_is_not_changed(conn: Conn) -> None:
    made = await turning.put(conn, "one", schedule_type="once", run_at=LATER)
    await turning.put(conn, "one", schedule_type="once", run_at=LATER, missed="skip")
    assert (await turning.row_of(conn, made))["missed"] == "skip"
    await turning.due(conn, made)
    await turning.turn(conn)
    again = await turning.put(conn, "one", schedule_type="once", run_at=LATER)
    assert again != made, "the name is free once a schedule is finished"


@pytest.mark.parametrize("verb", ["pause", "resume", "run", "skip", "cancel"])
async def test_another_project_has_no_such_schedule(conn: Conn, verb: str) -> None:
    made = await turning.put(conn, **DAILY)
    other = await make.project(conn, "other")
    (found,) = await make.rows(
        conn, f"SELECT * FROM mailqueue.{verb}_schedule(%s, %s, 'tests')", other, made
    )
    assert found[0] == "missing"
    await conn.execute("SELECT set_config('mailqueue.project', %s, true)", [str(uuid4())])
    with pytest.raises(errors.InsufficientPrivilege):
        await conn.execute(f"SELECT * FROM mailqueue.{verb}_schedule(%s, %s)", [other, made])


async def test_why_says_when_and_what_the_last_run_did(conn: Conn) -> None:
    made = await turning.put(conn, "digest", **DAILY)
    await turning.turn(conn)
    words = await make.scalar(conn, "SELECT mailqueue.why(%s)", made)
    assert 'schedule "digest", not due before' in words
    assert "mailqueue schedule preview" in words
    await turning.due(conn, made)
    await turning.turn(conn)
    words = await make.scalar(conn, "SELECT mailqueue.why(%s)", made)
    assert "run 1 for" in words
    assert "1 queued, 0 suppressed, 0 rejected" in words


async def test_a_project_has_a_bounded_number_of_schedules(conn: Conn) -> None:
    await conn.execute(
        "INSERT INTO mailqueue.schedules (project_id, schedule_type, cron_expression, message,"
        " recipients, created_by) SELECT p.id, 'cron', '0 9 * * *', '{}', '[]', 'tests'"
        " FROM mailqueue.projects AS p, generate_series(1, 10000) WHERE p.name = 'default'"
    )
    with pytest.raises(errors.InvalidParameterValue, match="at most 10000 unfinished schedules"):
        async with conn.transaction():
            await turning.put(conn, **DAILY)
    await turning.put(conn, schedule_type="once", run_at=LATER)


async def test_health_names_a_schedule_that_is_late_and_one_that_made_no_mail(conn: Conn) -> None:
    query = "SELECT state, found FROM mailqueue.health WHERE name = 'schedules'"
    assert await make.rows(conn, query) == [("ok", "schedules run in time")]
    made = await turning.put(conn, "late", **DAILY)
    await turning.turn(conn)
    await turning.due(conn, made, ago=timedelta(hours=1))
    ((state, found),) = await make.rows(conn, query)
    assert state == "warning"
    assert "late of default" in found


async def test_the_view_has_the_documented_columns_and_words(conn: Conn) -> None:
    made = await turning.put(conn, "digest", **DAILY)
    await turning.turn(conn)
    found = await make.scalar(
        conn, "SELECT to_jsonb(v) FROM mailqueue.scheduled_emails AS v WHERE id = %s", made
    )
    assert set(found) >= {"id", "project_id", "name", "schedule_type", "run_at", "cron_expression"}
    assert set(found) >= {"timezone", "template_version_id", "payload", "status", "next_run_at"}
    assert set(found) >= {"last_run_at", "run_count", "created_at"}
    assert (found["status"], found["run_count"], found["payload"]["to"]) == (
        "active",
        0,
        ["ann@example.com"],
    )


@pytest.mark.parametrize("named", ["welcome", "welcome@published", "welcome@1", "welcome@2"])
async def test_the_view_has_the_version_of_the_template_and_its_language(
    conn: Conn, named: str
) -> None:
    project = await make.project_named(conn)
    template = await published(conn, project, words=NewText("Hello", None, "Hello"))
    second = await version_of(conn, template, NewText("Hello again", None, "Hello"))
    await put_in_force(conn, template, second)
    query = "SELECT id FROM mailqueue.template_versions WHERE version = 1"
    first = await make.scalar(conn, query)
    rule: dict[str, Any] = DAILY | {"payload": {"to": ["ann@example.com"]}}
    made = await turning.put(conn, template_slug=named, language="de", **rule)

    query = """
        SELECT template_version_id, language FROM mailqueue.scheduled_emails WHERE id = %s
    """
    expected = first if named == "welcome@1" else second.id
    assert await make.rows(conn, query, made) == [(expected, "de")]


async def test_services_name_schedules_in_sql(conn: Conn) -> None:
    made = await turning.put(conn, "digest", **DAILY)
    await turning.turn(conn)
    due = await make.scalar(conn, "SELECT next_run_at FROM mailqueue.schedules WHERE id = %s", made)
    for call, expected in (
        ("pause_schedule('default', 'digest')", "paused"),
        ("resume_schedule('default', 'digest')", "pending"),
        ("skip_schedule('default', 'digest')", due),
    ):
        assert await make.scalar(conn, f"SELECT mailqueue.{call}") == expected
    assert await make.scalar(conn, "SELECT mailqueue.run_schedule('default', 'digest')")
    state = "SELECT state FROM mailqueue.cancel_schedule('default', 'digest')"
    assert await make.scalar(conn, state) == "cancelled"
    with pytest.raises(errors.InvalidParameterValue, match="has no schedule"):
        await conn.execute("SELECT mailqueue.pause_schedule('default', 'nothing')")
