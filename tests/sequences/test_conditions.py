"""Steps with conditions, pauses of a sequence, changes of zones, and the counts of steps."""

from datetime import timedelta

import pytest

from mailqueue.db.fetch import Conn
from tests import make
from tests.sequences.running import (
    NOON,
    TIPS,
    WELCOME,
    contact,
    enroll,
    mails,
    project_with_template,
    sequence,
    state_of,
    steps_of,
    turn,
)

pytestmark = pytest.mark.anyio
DAY = timedelta(days=1)


async def test_a_step_whose_condition_is_not_met_is_skipped(conn: Conn) -> None:
    project = await project_with_template(conn)
    await sequence(
        conn,
        project,
        WELCOME,
        {
            "name": "reminder",
            "template": "hello",
            "delay": "1d",
            "condition": {"event": "clicked", "step": "welcome", "happened": False},
            "next": "reminder",
        },
        {"name": "thanks", "template": "hello"},
    )
    ann, _ = await enroll(conn, project, await contact(conn, project))
    await turn(conn, NOON)
    await turn(conn, NOON + DAY)
    await turn(conn, NOON + 2 * DAY)
    await conn.execute(
        "INSERT INTO mailqueue.email_events (project_id, email_id, type)"
        " SELECT project_id, email_id, 'clicked' FROM mailqueue.enrollment_steps"
        " WHERE step = 'welcome'"
    )
    await turn(conn, NOON + 3 * DAY)

    assert [one[:2] for one in await steps_of(conn, ann)] == [
        ("welcome", "sent"),
        ("reminder", "sent"),
        ("reminder", "sent"),
        ("reminder", "skipped"),
        ("thanks", "sent"),
    ]
    assert (await state_of(conn, ann))[0] == "completed"


async def test_a_paused_sequence_does_no_step_until_it_is_resumed(conn: Conn) -> None:
    project = await project_with_template(conn)
    await sequence(conn, project, WELCOME, TIPS)
    ann, _ = await enroll(conn, project, await contact(conn, project))
    bob, _ = await enroll(conn, project, await contact(conn, project, "bob@example.com"))
    await turn(conn, NOON)
    pause = "SELECT mailqueue.pause_sequence(%s, 'onboarding', %s, 'tests')"
    await conn.execute(pause, (project, True))

    assert await state_of(conn, ann) == ("paused", None, "tips")
    await turn(conn, NOON + 3 * DAY)
    assert await make.scalar(conn, "SELECT mailqueue.release_enrollments(100)") == 0
    await conn.execute("SELECT mailqueue.unenroll('onboarding', 'bob@example.com')")
    assert (await state_of(conn, bob))[:2] == ("left", "removed")
    await conn.execute(pause, (project, False))
    assert await make.scalar(conn, "SELECT mailqueue.release_enrollments(100)") == 2
    # At its local time of day, not at once.
    await turn(conn, NOON + 4 * DAY)
    assert len(await steps_of(conn, ann)) == 1
    await turn(conn, NOON + 5 * DAY - timedelta(hours=3))

    assert len(await steps_of(conn, ann)) == 2
    assert await state_of(conn, bob) == ("left", "removed", "tips")
    assert await mails(conn) == [
        "ann@example.com welcome",
        "bob@example.com welcome",
        "ann@example.com tips",
    ]


async def test_a_contact_that_moves_gets_the_step_by_its_new_zone(conn: Conn) -> None:
    project = await project_with_template(conn)
    await sequence(conn, project, WELCOME, TIPS)
    ann = await contact(conn, project, time_zone="America/New_York")
    enrollment, _ = await enroll(conn, project, ann)
    await turn(conn, NOON)

    await conn.execute(
        'SELECT mailqueue.put_contact(%s, %s, \'{"time_zone": "Asia/Tokyo"}\', false)',
        (project, ann),
    )
    moved = NOON + timedelta(minutes=1)
    assert await make.scalar(conn, "SELECT mailqueue.take_enrollment_signals(100, %s)", moved) == 1
    await turn(conn, moved)
    assert len(await steps_of(conn, enrollment)) == 1
    tokyo = NOON.replace(day=6, hour=0)
    await turn(conn, tokyo)

    assert (await steps_of(conn, enrollment))[1:] == [("tips", "sent", tokyo)]


async def test_new_zone_rules_move_what_lies_ahead(conn: Conn) -> None:
    project = await project_with_template(conn)
    await sequence(conn, project, WELCOME, TIPS)
    await enroll(conn, project, await contact(conn, project, time_zone="Europe/Berlin"))
    await turn(conn, NOON)
    query = "SELECT due_at, run_at, zone_release FROM mailqueue.sequence_enrollments"
    known = await make.rows(conn, query)
    await conn.execute(
        "UPDATE mailqueue.sequence_enrollments SET zone_release = '2020a',"
        " due_at = due_at + interval '1 h', run_at = run_at + interval '1 h'"
    )

    assert await make.scalar(conn, "SELECT mailqueue.renew_enrollment_zones(100)") == 1
    assert await make.rows(conn, query) == known
    assert await make.scalar(conn, "SELECT mailqueue.renew_enrollment_zones(100)") == 0


async def test_counts_tell_how_far_contacts_came(conn: Conn) -> None:
    project = await project_with_template(conn)
    made = await sequence(conn, project)
    for number in range(5):
        await enroll(conn, project, await contact(conn, project, f"p{number}@example.com"))
    await turn(conn, NOON)
    await conn.execute("SELECT mailqueue.unenroll('onboarding', 'p0@example.com')")
    await turn(conn, NOON + 2 * DAY - timedelta(hours=3))
    await conn.execute(
        "SELECT mailqueue.suppress(%s, 'p1@example.com', '', 'complaint', NULL)", (project,)
    )

    found = await make.rows(
        conn,
        "SELECT step, entered, sent, skipped, waiting, departures"
        " FROM mailqueue.sequence_counts(%s, %s, 1, false)",
        project,
        made,
    )

    assert found == [
        ("welcome", 5, 5, 0, 0, {}),
        ("tips", 5, 4, 0, 0, {"removed": 1}),
        ("offer", 4, 0, 0, 3, {"complained": 1}),
    ]


async def test_why_tells_what_an_enrollment_waits_for(conn: Conn) -> None:
    project = await project_with_template(conn)
    await sequence(conn, project)
    ann, _ = await enroll(conn, project, await contact(conn, project))
    await turn(conn, NOON)
    why = "SELECT mailqueue.why(%s)"

    assert (
        "enrollment of ann@example.com in sequence onboarding, version 1, active: step tips is"
        " due at 2026-05-06 09:00:00 UTC, UTC; "
    ) in await make.scalar(conn, why, ann)
    await conn.execute("SELECT mailqueue.unenroll('onboarding', 'ann@example.com')")
    assert "left before step tips: removed" in await make.scalar(conn, why, ann)


async def test_a_step_that_cannot_be_done_is_tried_again(conn: Conn) -> None:
    project = await project_with_template(conn)
    await sequence(conn, project)
    ann, _ = await enroll(conn, project, await contact(conn, project))
    await conn.execute("UPDATE mailqueue.templates SET deleted_at = now() WHERE slug = 'hello'")
    query = "SELECT outcome, reason FROM mailqueue.advance_enrollment(%s, %s)"

    assert await make.rows(conn, query, ann, NOON) == [
        ("retry", 'step welcome: template: there is no template "hello"')
    ]
    assert await steps_of(conn, ann) == []
