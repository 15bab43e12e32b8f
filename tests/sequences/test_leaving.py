"""A contact leaves a sequence before the next step, in the transaction that records why."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.sequences.running import (
    NOON,
    contact,
    enroll,
    project_with_template,
    sequence,
    state_of,
    steps_of,
    turn,
)

pytestmark = pytest.mark.anyio
LATER = NOON + timedelta(days=30, hours=-3)


async def begun(conn: Conn, **given: Any) -> tuple[UUID, UUID, UUID]:
    """Return project, contact and enrollment after the first step."""
    project = await project_with_template(conn)
    await sequence(conn, project, **given)
    ann = await contact(conn, project)
    enrollment, _ = await enroll(conn, project, ann)
    await turn(conn, NOON)
    assert enrollment is not None
    return project, ann, enrollment


@pytest.mark.parametrize(
    ("reason", "category", "left"),
    [
        ("unsubscribed", "marketing", "unsubscribed"),
        ("unsubscribed", "*", "unsubscribed"),
        ("hard_bounce", "", "bounced"),
        ("complaint", "", "complained"),
        ("manual", "", "suppressed"),
    ],
)
async def test_a_suppression_ends_it_in_its_transaction(
    conn: Conn, reason: str, category: str, left: str
) -> None:
    project, _, enrollment = await begun(conn)

    await conn.execute(
        "SELECT mailqueue.suppress(%s, 'Ann@Example.com', %s, %s, NULL)",
        (project, category, reason),
    )

    assert await state_of(conn, enrollment) == ("left", left, "tips")
    # Lifted before the next step is due: it stays ended.
    await conn.execute("DELETE FROM mailqueue.suppressions")
    await turn(conn, LATER)
    assert [one[0] for one in await steps_of(conn, enrollment)] == ["welcome"]
    assert await state_of(conn, enrollment) == ("left", left, "tips")


async def test_an_unsubscribe_from_another_category_ends_nothing(conn: Conn) -> None:
    project, _, enrollment = await begun(conn)

    await conn.execute(
        "SELECT mailqueue.suppress(%s, 'ann@example.com', 'digest', 'unsubscribed', NULL)",
        (project,),
    )

    assert await state_of(conn, enrollment) == ("active", None, "tips")


async def test_a_paused_category_delays_the_next_step(conn: Conn) -> None:
    project, _, enrollment = await begun(conn)
    until = NOON + timedelta(days=40)
    await conn.execute(
        "INSERT INTO mailqueue.suppressions (project_id, address, category, reason, expires_at)"
        " VALUES (%s, 'ann@example.com', 'marketing', 'paused', %s)",
        (project, until),
    )

    await turn(conn, LATER)

    assert [one[0] for one in await steps_of(conn, enrollment)] == ["welcome"]
    await turn(conn, NOON + timedelta(days=41, hours=-3))
    assert [one[0] for one in await steps_of(conn, enrollment)] == ["welcome", "tips"]


async def test_it_ends_by_hand(conn: Conn) -> None:
    _, _, enrollment = await begun(conn)

    count = await make.scalar(conn, "SELECT mailqueue.unenroll('onboarding', 'ann@example.com')")

    assert count == 1
    assert await state_of(conn, enrollment) == ("left", "removed", "tips")
    again = await make.scalar(conn, "SELECT mailqueue.unenroll('onboarding', 'ann@example.com')")
    assert again == 0
    await turn(conn, LATER)
    assert len(await steps_of(conn, enrollment)) == 1


async def test_it_ends_with_its_contact(conn: Conn) -> None:
    project, ann, enrollment = await begun(conn)

    await conn.execute("SELECT mailqueue.remove_contact(%s, %s)", (project, ann))

    query = "SELECT count(*) FROM mailqueue.sequence_enrollments WHERE id = %s"
    assert await make.scalar(conn, query, enrollment) == 0


async def test_it_ends_when_its_contact_is_erased(conn: Conn) -> None:
    _, ann, enrollment = await begun(conn)

    await conn.execute(
        "UPDATE mailqueue.contacts SET email = 'erased@erased.invalid',"
        " email_key = 'erased@erased.invalid' WHERE id = %s",
        (ann,),
    )

    assert (await state_of(conn, enrollment))[:2] == ("left", "erased")
    await turn(conn, LATER)
    assert len(await steps_of(conn, enrollment)) == 1


async def test_it_ends_with_its_sequence(conn: Conn) -> None:
    project, _, enrollment = await begun(conn)

    await conn.execute("SELECT mailqueue.remove_sequence(%s, 'onboarding', 'tests')", (project,))

    assert (await state_of(conn, enrollment))[:2] == ("left", "sequence_removed")
    await turn(conn, LATER)
    assert len(await steps_of(conn, enrollment)) == 1
    await sequence(conn, project)  # the name is free again


async def test_a_recorded_event_is_its_goal(conn: Conn) -> None:
    project, _, enrollment = await begun(conn, goal={"event": "OrderPlaced"})

    await conn.execute(
        "SELECT mailqueue.record_sequence_event(%s, 'ann@example.com', 'OrderPlaced', false, %s)",
        (project, NOON + timedelta(hours=1)),
    )
    woken = await make.scalar(conn, "SELECT mailqueue.take_enrollment_signals(100)")

    assert woken == 1
    assert await turn(conn, LATER) == [(enrollment, "left")]
    assert await state_of(conn, enrollment) == ("left", "goal", "tips")


async def test_events_before_the_enrollment_do_not_count(conn: Conn) -> None:
    project, _, enrollment = await begun(conn, goal={"event": "OrderPlaced"})

    await conn.execute(
        "SELECT mailqueue.record_sequence_event(%s, 'ann@example.com', 'OrderPlaced', false, %s)",
        (project, NOON - timedelta(hours=1)),
    )
    await turn(conn, LATER)

    assert len(await steps_of(conn, enrollment)) == 2


async def test_a_click_in_the_mail_of_a_step_is_its_goal(conn: Conn) -> None:
    project, _, enrollment = await begun(conn, goal={"event": "clicked", "step": "welcome"})
    query = "SELECT email_id FROM mailqueue.enrollment_steps WHERE enrollment_id = %s"
    email = await make.scalar(conn, query, enrollment)

    await conn.execute(
        "INSERT INTO mailqueue.email_events (project_id, email_id, type, data)"
        " VALUES (%s, %s, 'clicked', '{\"is_machine\": true}'), (%s, %s, 'opened', '{}')",
        (project, email, project, email),
    )
    await turn(conn, NOON + timedelta(days=3, hours=-3))
    assert len(await steps_of(conn, enrollment)) == 2
    await conn.execute(
        "INSERT INTO mailqueue.email_events (project_id, email_id, type)"
        " VALUES (%s, %s, 'clicked')",
        (project, email),
    )
    await turn(conn, LATER)

    assert await state_of(conn, enrollment) == ("left", "goal", "offer")


@pytest.mark.parametrize(
    ("goal", "type_"),
    [(word, word) for word in ("clicked", "opened", "delivered")] + [("bounced", "soft_bounce")],
)
async def test_a_goal_ends_it_once_the_event_of_its_mail_is_recorded(
    conn: Conn, goal: str, type_: str
) -> None:
    """And not only when its next step is due."""
    _, _, enrollment = await begun(conn, goal={"event": goal, "step": "welcome"})

    await happened(conn, enrollment, type_)
    woken = await make.scalar(conn, "SELECT mailqueue.take_enrollment_signals(100, %s)", NOON)

    assert woken == 1
    assert await turn(conn, NOON) == [(enrollment, "left")]
    assert await state_of(conn, enrollment) == ("left", "goal", "tips")


async def test_a_goal_of_a_paused_sequence_ends_it_once_it_is_resumed(conn: Conn) -> None:
    project, _, enrollment = await begun(conn, goal={"event": "clicked"})
    pause = "SELECT mailqueue.pause_sequence(%s, 'onboarding', %s, 'tests')"
    await make.scalar(conn, pause, project, True)
    await happened(conn, enrollment, "clicked")
    await make.scalar(conn, "SELECT mailqueue.take_enrollment_signals(100, %s)", NOON)
    assert await turn(conn, NOON) == [(enrollment, "held")]

    ahead = "UPDATE mailqueue.sequence_enrollments SET due_at = now() + interval '1 day'"
    await conn.execute(ahead)
    await make.scalar(conn, pause, project, False)
    await make.scalar(conn, "SELECT mailqueue.release_enrollments(100)")

    assert await turn(conn, datetime.now(UTC)) == [(enrollment, "left")]


@pytest.mark.parametrize(
    ("goal", "type_", "data"),
    [
        ({"event": "clicked"}, "opened", {}),
        ({"event": "clicked"}, "clicked", {"is_machine": True}),
        ({"event": "clicked", "step": "tips"}, "clicked", {}),
        ({"event": "OrderPlaced"}, "clicked", {}),
        (None, "clicked", {}),
    ],
)
async def test_an_event_that_is_not_its_goal_wakes_no_worker(
    conn: Conn, goal: object, type_: str, data: dict[str, object]
) -> None:
    _, _, enrollment = await begun(conn, **({} if goal is None else {"goal": goal}))

    await happened(conn, enrollment, type_, **data)

    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.enrollment_signals") == 0


async def test_an_event_does_not_wait_for_a_transaction_that_removes_its_contact(
    conn: Conn, database: DatabaseSettings
) -> None:
    """And succeeds, whether the contact is gone then or not."""
    _, ann, enrollment = await begun(conn, goal={"event": "clicked"})
    async with connect(database) as other, other.transaction(force_rollback=True):
        await other.execute("DELETE FROM mailqueue.contacts WHERE id = %s", (ann,))
        await conn.execute("SET lock_timeout = '5s'")
        await happened(conn, enrollment, "clicked")

    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_events") == 1
    await turn(conn, LATER)  # before the next step at the latest
    assert await state_of(conn, enrollment) == ("left", "goal", "tips")


async def happened(conn: Conn, enrollment: UUID, type_: str, **data: object) -> None:
    """Record an event of the mail of the first step."""
    await conn.execute(
        "INSERT INTO mailqueue.email_events (project_id, email_id, type, data)"
        " SELECT project_id, email_id, %s, %s FROM mailqueue.enrollment_steps"
        " WHERE enrollment_id = %s AND number = 1",
        (type_, Jsonb(data), enrollment),
    )


async def test_a_loop_ends_after_a_thousand_steps(conn: Conn) -> None:
    project = await project_with_template(conn)
    await sequence(conn, project, {"name": "a", "template": "hello", "delay": "1h", "next": "a"})
    enrollment, _ = await enroll(conn, project, await contact(conn, project))
    await conn.execute("UPDATE mailqueue.sequence_enrollments SET steps_done = 999")

    await turn(conn, LATER)

    assert await state_of(conn, enrollment) == ("left", "limit", "a")
