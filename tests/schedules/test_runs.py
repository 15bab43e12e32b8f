"""Runs with many recipients, of lists, and on the clocks of recipients: made in parts."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from psycopg import errors
from psycopg.types.json import Jsonb

from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from tests import make
from tests.schedules import turning

pytestmark = pytest.mark.anyio
LATER = (datetime.now(UTC) + timedelta(days=1)).isoformat()
WORDS = {"subject": "Hello", "text_body": "Hello"}


async def _begun(conn: Conn, payload: dict[str, Any], **given: Any) -> UUID:
    """Add a schedule and begin its run; return its id."""
    asked = {"schedule_type": "once", "run_at": LATER} | given
    made = await turning.put(conn, payload=payload, **asked)
    await turning.due(conn, made)
    await turning.turn(conn)
    return made


async def _contacts(conn: Conn, count: int, name: str = "news", **fields: Any) -> None:
    project = await make.project_named(conn)
    for n in range(count):
        await conn.execute(
            "SELECT mailqueue.put_contact(%s, NULL, %s, true)",
            [project, Jsonb({"email": f"{name}{n}@example.com", "first_name": f"N{n}"} | fields)],
        )
    await conn.execute(
        "SELECT mailqueue.put_contact_list(%s, %s, '{}', true, 'tests')", [project, name]
    )
    await conn.execute(
        "SELECT mailqueue.add_list_members(%s, %s, ARRAY(SELECT id FROM mailqueue.contacts"
        " WHERE email LIKE %s))",
        [project, name, f"{name}%"],
    )


async def test_many_recipients_get_one_mail_each_in_parts(conn: Conn) -> None:
    to = [f"n{n}@example.com" for n in range(250)]
    made = await _begun(conn, {"to": [*to, "N0@example.com"]} | WORDS)
    assert await turning.queued(conn) == 0

    assert await turning.make_runs(conn, part=100) == 3

    (run,) = await turning.runs_of(conn, made)
    assert (run["queued"], run["rejected"], len(run["batch_ids"])) == (250, 0, 1)
    found = await make.scalar(
        conn, "SELECT count(DISTINCT recipient_email) FROM mailqueue.email_queue"
    )
    assert found == 250 == await turning.queued(conn)


async def test_a_part_that_is_repeated_makes_no_second_mail(conn: Conn) -> None:
    made = await _begun(conn, {"to": [f"n{n}@example.com" for n in range(150)]} | WORDS)
    await turning.make_runs(conn, part=100)
    await conn.execute(
        "UPDATE mailqueue.schedule_runs SET status = 'pending', finished_at = NULL, place = 0"
        " WHERE schedule_id = %s",
        [made],
    )
    await turning.make_runs(conn, part=70)
    assert await turning.queued(conn) == 150


async def test_a_list_is_those_whom_it_had_when_the_run_began(conn: Conn) -> None:
    await _contacts(conn, 25)
    made = await _begun(conn, {"to": ["news", "news3@example.com", "ann@example.com"]} | WORDS)
    # Rows of one transaction have one time: the contact comes later.
    await conn.execute(
        "INSERT INTO mailqueue.contacts (project_id, email, email_key, created_at)"
        " SELECT id, 'late@example.com', 'late@example.com', now() + interval '1 h'"
        " FROM mailqueue.projects WHERE name = 'default'"
    )
    await conn.execute(
        "INSERT INTO mailqueue.contact_list_members (list_id, contact_id, project_id, created_at)"
        " SELECT l.id, c.id, l.project_id, now() + interval '1 h'"
        " FROM mailqueue.contact_lists AS l, mailqueue.contacts AS c"
        " WHERE c.email = 'late@example.com'"
    )

    await turning.make_runs(conn, part=10)

    (run,) = await turning.runs_of(conn, made)
    assert run["queued"] == 26 == await turning.queued(conn)


async def test_a_list_that_is_gone_fails_the_run_naming_it(conn: Conn) -> None:
    await _contacts(conn, 1)
    await _begun(conn, {"to": ["news"]} | WORDS)
    await conn.execute("DELETE FROM mailqueue.contact_lists")
    with pytest.raises(InvalidField, match="to: the project has no list"):
        async with conn.transaction():
            await turning.make_runs(conn)


async def test_each_recipient_has_the_time_of_their_own_clock_and_the_run_says_whose(
    conn: Conn,
) -> None:
    await conn.execute("UPDATE mailqueue.projects SET time_zone = 'America/New_York'")
    await _contacts(conn, 1, "tokyo", time_zone="Asia/Tokyo")
    to = [
        {"email": "kathmandu@example.com", "timezone": "Asia/Kathmandu"},
        "tokyo0@example.com",
        "lima@example.com",
        "nobody@example.com",
    ]
    made = await turning.put(
        conn, schedule_type="local", run_at="2030-06-01T09:00:00", payload={"to": to} | WORDS
    )
    started = await make.scalar(
        conn, "SELECT next_run_at FROM mailqueue.schedules WHERE id = %s", made
    )
    assert started == datetime(2030, 5, 31, 19, tzinfo=UTC)
    await conn.execute("UPDATE mailqueue.schedules SET run_at = now()")
    await turning.turn(conn)

    await turning.make_runs(conn, zones={"lima@example.com": "America/Lima"})

    found = await make.rows(
        conn,
        "SELECT r.email_key, r.zone_source, r.send_at AT TIME ZONE 'UTC', q.run_at = r.send_at"
        " FROM mailqueue.schedule_recipients AS r JOIN mailqueue.email_queue AS q"
        " ON q.id = r.email_id ORDER BY 1",
    )
    day = datetime.fromisoformat("2030-06-01T00:00")
    assert found == [
        ("kathmandu@example.com", "recipient", day + timedelta(hours=3, minutes=15), True),
        ("lima@example.com", "country", day + timedelta(hours=14), True),
        ("nobody@example.com", "project", day + timedelta(hours=13), True),
        ("tokyo0@example.com", "contact", day, True),
    ]
    (run,) = await turning.runs_of(conn, made)
    assert run["by_zone_source"] == {"recipient": 1, "contact": 1, "country": 1, "project": 1}


async def test_a_run_is_spread_over_its_window(conn: Conn) -> None:
    to = [f"n{n}@example.com" for n in range(200)]
    await _begun(conn, {"to": to} | WORDS, spread_seconds=3600)
    await turning.make_runs(conn)
    found = await make.rows(
        conn,
        "SELECT count(DISTINCT run_at) > 190, max(run_at) - min(run_at) > interval '50 min',"
        " max(run_at) < now() + interval '1 h' FROM mailqueue.email_queue",
    )
    assert found == [(True, True, True)]


async def test_variables_and_templates_have_the_values_of_the_run(conn: Conn) -> None:
    project = await make.project_named(conn)
    await _template(conn, project)
    made = await turning.put(
        conn,
        "digest",
        schedule_type="cron",
        cron_expression="0 9 * * 1",
        timezone="America/New_York",
        template_slug="digest",
        payload={
            "to": ["ann@example.com", {"email": "bob@example.com", "variables": {"Edition": "B"}}],
            "variables": {"Edition": "{{ run.week }}", "Other": ["{{run.number}}", 'a "b"']},
        },
    )
    await turning.turn(conn)
    await conn.execute(
        "UPDATE mailqueue.schedules SET next_run_at = '2026-11-02T14:00Z', missed = 'all',"
        " next_local = '2026-11-02T09:00', run_at = now() WHERE id = %s",
        [made],
    )
    await turning.turn(conn)

    found = await make.rows(
        conn,
        "SELECT recipient_email, custom_data -> 'variables' FROM mailqueue.email_queue"
        " ORDER BY run_at, 1 LIMIT 2",
    )
    (ann, bob) = (row[1] for row in sorted(found))
    assert ann["Edition"] == "2026-W45"
    assert ann["Other"] == ["1", 'a "b"']
    assert ann["run"]["number"] == 1
    assert ann["run"]["scheduled_at"] == "2026-11-02T14:00:00Z"
    assert ann["run"]["date"] == "2026-11-02"
    assert bob["Edition"] == "B"


async def _template(conn: Conn, project: UUID) -> None:
    template = await make.template(conn, project, slug="digest")
    version = await make.inserted(
        conn,
        "template_versions",
        {"template_id": template, "version": 1, "status": "published", "created_by": "tests"},
    )
    await conn.execute(
        "INSERT INTO mailqueue.template_texts (version_id, language, subject, text_body, needs)"
        " VALUES (%s, 'en', 'Digest {{ Edition }}', 'Number {{ run.number }}', '{Edition}')",
        [version],
    )


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("{{ run.moon }}", "a run has no"),
        ("{{.run.moon}}", "a run has no"),
        ("{{ run. }}", "a run has no"),
        ("Week {{.CurrentWeek}}", r"{{.CurrentWeek}} is not filled in"),
        ("{{- .Site.Week -}}", r"{{.Site.Week}} is not filled in"),
    ],
)
async def test_a_value_that_a_run_lacks_is_refused(conn: Conn, value: str, reason: str) -> None:
    await _template(conn, await make.project_named(conn))
    with pytest.raises(errors.InvalidParameterValue, match=f"variables: {reason}"):
        async with conn.transaction():
            await turning.put(
                conn,
                schedule_type="once",
                run_at=LATER,
                template_slug="digest",
                payload={"to": ["ann@example.com"], "variables": {"Edition": value}},
            )


async def test_a_cancelled_run_ends_with_the_part_that_it_works_on(conn: Conn) -> None:
    made = await _begun(conn, {"to": [f"n{n}@example.com" for n in range(150)]} | WORDS)
    project = await make.project_named(conn)
    found = await make.rows(
        conn, "SELECT * FROM mailqueue.cancel_schedule(%s, %s, 'tests')", project, made
    )
    assert found == [("cancelled", 1, 0, 0)]
    (run,) = await turning.runs_of(conn, made)
    assert (run["status"], run["last_error"]) == ("cancelled", "cancelled by tests")
    assert await turning.make_runs(conn) == 0
    assert await turning.queued(conn) == 0


async def test_a_suppressed_recipient_is_counted_and_gets_no_mail(conn: Conn) -> None:
    project = await make.project_named(conn)
    await make.inserted(
        conn,
        "suppressions",
        {"project_id": project, "address": "ann@example.com", "reason": "manual"},
    )
    made = await _begun(conn, {"to": ["ann@example.com", "bob@example.com"]} | WORDS)
    (run,) = await turning.runs_of(conn, made)
    assert (run["queued"], run["suppressed"]) == (1, 1)
