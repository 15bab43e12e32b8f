"""Steps are done in order, each when it is due, and make one mail each."""

from datetime import datetime, timedelta

import pytest

from mailqueue.db.fetch import Conn
from tests import make
from tests.sequences.running import (
    NOON,
    contact,
    enroll,
    mails,
    project_with_template,
    sequence,
    state_of,
    steps_of,
    template,
    turn,
)

pytestmark = pytest.mark.anyio


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


async def test_steps_are_done_at_their_local_time_one_after_another(conn: Conn) -> None:
    project = await project_with_template(conn)
    await sequence(conn, project)
    ann = await contact(conn, project, time_zone="Europe/Berlin")
    enrollment, outcome = await enroll(conn, project, ann)

    assert outcome == "enrolled"
    await turn(conn, NOON)
    await turn(conn, at("2026-05-06T06:59:59+00:00"))
    assert [one[0] for one in await steps_of(conn, enrollment)] == ["welcome"]
    await turn(conn, at("2026-05-06T07:00:00+00:00"))
    await turn(conn, at("2026-05-09T07:00:00+00:00"))

    assert await steps_of(conn, enrollment) == [
        ("welcome", "sent", NOON),
        ("tips", "sent", at("2026-05-06T07:00:00+00:00")),
        ("offer", "sent", at("2026-05-09T07:00:00+00:00")),
    ]
    assert await state_of(conn, enrollment) == ("completed", None, None)
    assert await mails(conn) == [f"ann@example.com {step}" for step in ("welcome", "tips", "offer")]


async def test_a_step_in_the_evening_waits_for_the_morning(conn: Conn) -> None:
    project = await project_with_template(conn)
    await sequence(
        conn,
        project,
        {
            "name": "a",
            "template": "hello",
            "delay": "2h",
            "at": "09:00",
            "weekdays": ["mon", "fri"],
        },
    )
    ann = await contact(conn, project)
    enrollment, _ = await enroll(conn, project, ann)

    await turn(conn, NOON + timedelta(days=3, hours=20))
    assert await steps_of(conn, enrollment) == []
    await turn(conn, at("2026-05-08T09:00:00+00:00"))

    assert [one[1] for one in await steps_of(conn, enrollment)] == ["sent"]


async def test_mail_knows_its_sequence_and_contact(conn: Conn) -> None:
    project = await project_with_template(conn)
    await sequence(conn, project)
    ann = await contact(conn, project, first_name="Ann", attributes={"plan": "pro"})
    enrollment, _ = await enroll(conn, project, ann, variables={"coupon": "A1"})

    await turn(conn, NOON)

    found = await make.rows(
        conn, "SELECT category, campaign_id, custom_data FROM mailqueue.email_queue"
    )
    assert found[0][:2] == ("marketing", "onboarding")
    assert found[0][2] == {
        "sequence": "onboarding",
        "sequence_version": 1,
        "sequence_step": "welcome",
        "enrollment_id": str(enrollment),
        "variables": {
            "coupon": "A1",
            "contact": {
                "email": "ann@example.com",
                "first_name": "Ann",
                "last_name": None,
                "language": None,
                "attributes": {"plan": "pro"},
            },
        },
    }


async def test_a_step_that_is_refused_holds_up_no_other_that_is_due_with_it(conn: Conn) -> None:
    """Mail of steps is made together first; the refused one is found, and it alone tries again."""
    project = await project_with_template(conn)
    await template(conn, project, "gone")
    await sequence(conn, project, {"name": "a", "template": "hello"})
    await sequence(conn, project, {"name": "b", "template": "gone"}, name="broken")
    past = NOON - timedelta(days=800)
    kept = []
    for email, name in (("ann", "onboarding"), ("bob", "broken"), ("eve", "onboarding")):
        one = await contact(conn, project, email=f"{email}@example.com")
        kept.append((await enroll(conn, project, one, name=name, at=past))[0])
    await conn.execute("UPDATE mailqueue.templates SET deleted_at = now() WHERE slug = 'gone'")

    query = "SELECT id, outcome, reason FROM mailqueue.advance_enrollments(%s)"
    found = {row[0]: row[1:] for row in await make.rows(conn, query, kept)}

    assert [found[one][0] for one in kept] == ["completed", "retry", "completed"]
    assert found[kept[1]][1] == 'step b: template: there is no template "gone"'
    assert await mails(conn) == ["ann@example.com a", "eve@example.com a"]
    assert [len(await steps_of(conn, one)) for one in kept] == [1, 0, 1]
