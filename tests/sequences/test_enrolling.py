"""A contact is enrolled once, and again as the sequence says."""

import asyncio
from datetime import timedelta
from uuid import UUID

import pytest
from psycopg import errors

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.sequences.running import (
    NOON,
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
LATER = NOON + timedelta(days=30, hours=-3)


@pytest.mark.parametrize(
    ("policy", "while_active", "completed", "left"),
    [
        ("never", "already_enrolled", "enrolled_before", "enrolled_before"),
        ("after_completion", "already_enrolled", "enrolled", "enrolled_before"),
        ("after_end", "already_enrolled", "enrolled", "enrolled"),
        ("restart", "restarted", "enrolled", "enrolled"),
    ],
)
async def test_a_contact_is_enrolled_again_as_the_sequence_says(
    conn: Conn, policy: str, while_active: str, completed: str, left: str
) -> None:
    project = await project_with_template(conn)
    await sequence(conn, project, reenroll=policy)
    for email, expected in (("a@example.com", completed), ("b@example.com", left)):
        person = await contact(conn, project, email)
        first, outcome = await enroll(conn, project, person)
        assert outcome == "enrolled"
        assert (await enroll(conn, project, person))[1] == while_active
        if email.startswith("a"):
            await turn(conn, LATER)
            await turn(conn, LATER + timedelta(days=9))
            await turn(conn, LATER + timedelta(days=20))
        else:
            await conn.execute("SELECT mailqueue.unenroll('onboarding', %s)", (email,))
        again, outcome = await enroll(conn, project, person, at=LATER + timedelta(days=30))
        assert outcome == expected
        assert (again == first) is (outcome == "enrolled_before" and policy != "restart")


async def test_one_that_is_started_again_ends(conn: Conn) -> None:
    project = await project_with_template(conn)
    await sequence(conn, project, reenroll="restart")
    ann = await contact(conn, project)
    first, _ = await enroll(conn, project, ann)
    await turn(conn, NOON)
    second, _ = await enroll(conn, project, ann, at=NOON + timedelta(days=1))

    assert (await state_of(conn, first))[:2] == ("left", "restarted")
    await turn(conn, NOON + timedelta(days=2))

    assert [one[0] for one in await steps_of(conn, first)] == ["welcome"]
    assert [one[0] for one in await steps_of(conn, second)] == ["welcome"]


async def test_it_happens_in_the_callers_transaction(conn: Conn) -> None:
    project = await project_with_template(conn)
    await sequence(conn, project)
    async with conn.transaction(force_rollback=True):
        await conn.execute("SELECT mailqueue.enroll('onboarding', 'ann@example.com')")

    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.sequence_enrollments") == 0
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.contacts") == 0
    made = await make.scalar(
        conn, """SELECT mailqueue.enroll('onboarding', 'ann@example.com', '{"coupon": "A1"}')"""
    )
    again = await make.scalar(conn, "SELECT mailqueue.enroll('onboarding', 'ANN@example.com')")
    assert again == made


async def test_an_address_that_is_suppressed_is_not_enrolled(conn: Conn) -> None:
    project = await project_with_template(conn)
    await sequence(conn, project)
    await conn.execute(
        "SELECT mailqueue.suppress(%s, 'ann@example.com', '', 'complaint', NULL)", (project,)
    )

    assert (
        await make.scalar(conn, "SELECT mailqueue.enroll('onboarding', 'ann@example.com')") is None
    )
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.sequence_enrollments") == 0


async def test_test_enrollments_are_apart_and_make_test_mail(conn: Conn) -> None:
    project = await project_with_template(conn)
    await sequence(conn, project)
    ann = await contact(conn, project)
    tried = await contact(conn, project, is_test=True)
    live, _ = await enroll(conn, project, ann)
    trial, outcome = await enroll(conn, project, tried, is_test=True)

    assert outcome == "enrolled"
    assert trial != live
    await conn.execute(
        "SELECT mailqueue.suppress(%s, 'ann@example.com', '', 'complaint', NULL)", (project,)
    )
    await turn(conn, NOON)

    assert (await state_of(conn, live))[0] == "left"
    assert (await state_of(conn, trial))[0] == "active"
    query = "SELECT is_test FROM mailqueue.email_queue"
    assert await make.rows(conn, query) == [(True,)]
    for one, is_test in ((ann, True), (tried, False)):
        with pytest.raises(errors.InvalidParameterValue, match="there is no contact"):
            async with conn.transaction():
                await enroll(conn, project, one, is_test=is_test)


async def test_a_test_enrollment_adds_a_test_contact_beside_the_live_one(conn: Conn) -> None:
    project = await project_with_template(conn)
    await sequence(conn, project)
    ann = await contact(conn, project)
    enroll_ = "SELECT mailqueue.enroll('onboarding', %s, is_test => true)"

    trial = await make.scalar(conn, enroll_, "Ann@example.com")
    assert await make.scalar(conn, enroll_, "ann@example.com") == trial

    of_trial = "SELECT contact_id FROM mailqueue.sequence_enrollments"
    tried = await make.scalar(conn, of_trial)
    query = "SELECT id, is_test FROM mailqueue.contacts ORDER BY id"
    assert await make.rows(conn, query) == [(ann, False), (tried, True)]
    assert await make.scalar(conn, "SELECT mailqueue.mode()") is None
    await contact(conn, project, "bob@example.com")  # live again
    assert await make.scalar(conn, "SELECT mailqueue.unenroll(NULL, 'ann@example.com')") == 0
    query = "SELECT mailqueue.unenroll(NULL, 'ann@example.com', is_test => true)"
    assert await make.scalar(conn, query) == 1


@pytest.mark.parametrize(
    ("statement", "field"),
    [
        ("SELECT mailqueue.enroll('none', 'ann@example.com')", "sequence"),
        ("SELECT mailqueue.enroll('draft', 'ann@example.com')", "sequence"),
        ("SELECT mailqueue.enroll(NULL, 'ann@example.com')", "sequence"),
        ("SELECT mailqueue.enroll('onboarding', 'ann')", "email"),
        ("SELECT mailqueue.enroll('onboarding', NULL)", "email"),
        ("SELECT mailqueue.enroll('onboarding', 'ann@example.com', '[]')", "variables"),
        (
            "SELECT mailqueue.enroll('onboarding', 'ann@example.com', '{\"contact\": 1}')",
            "variables",
        ),
        ("SELECT mailqueue.unenroll('onboarding', 'ann')", "email"),
    ],
)
async def test_bad_input_names_the_field(conn: Conn, statement: str, field: str) -> None:
    project = await project_with_template(conn)
    await sequence(conn, project)
    await sequence(conn, project, name="draft", is_published=False)

    with pytest.raises(errors.InvalidParameterValue) as refused:
        await conn.execute(statement)

    assert refused.value.diag.column_name == field


async def test_a_project_has_a_bound_of_enrollments(conn: Conn) -> None:
    project = await project_with_template(conn)
    await sequence(conn, project)
    await conn.execute(
        "CREATE OR REPLACE FUNCTION mailqueue.max_enrollments() RETURNS integer"
        " LANGUAGE sql IMMUTABLE AS 'SELECT 2'"
    )
    for number in range(2):
        await conn.execute("SELECT mailqueue.enroll('onboarding', %s)", (f"p{number}@example.com",))

    with pytest.raises(errors.InvalidParameterValue, match="2 unfinished enrollments"):
        await conn.execute("SELECT mailqueue.enroll('onboarding', 'ann@example.com')")


async def test_callers_that_enroll_one_contact_together_make_one_enrollment(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        project = await project_with_template(conn)
        await sequence(conn, project, WELCOME)
        await contact(conn, project)

    async def enrolled() -> UUID:
        async with connect(database) as own:
            found = await make.scalar(
                own, "SELECT mailqueue.enroll('onboarding', 'ann@example.com')"
            )
            return UUID(str(found))

    found = await asyncio.gather(*(enrolled() for _ in range(8)))

    assert len(set(found)) == 1
    async with connect(database) as conn:
        await turn(conn, NOON + timedelta(days=1_000))
        assert await mails(conn) == ["ann@example.com welcome"]
