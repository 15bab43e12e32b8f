"""Sequences, and a clock by which their steps are done, for tests."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from tests import make
from tests.contacts import people

NOON = datetime.fromisoformat("2026-05-04T12:00:00+00:00")
"""A Monday."""
WELCOME = {"name": "welcome", "template": "hello"}
TIPS = {"name": "tips", "template": "hello", "delay": "2d", "at": "09:00"}
OFFER = {"name": "offer", "template": "hello", "delay": "3d"}


async def project_with_template(conn: Conn, name: str = "default") -> UUID:
    """Return the id of a project with a sender account and template `hello`."""
    found = await make.scalar(conn, "SELECT id FROM mailqueue.projects WHERE name = %s", name)
    project = UUID(str(found or await make.project(conn, name)))
    await make.sender_account(conn, project_id=project)
    await template(conn, project)
    return project


async def template(conn: Conn, project: UUID, slug: str = "hello") -> None:
    """Add a template with a published version, without compiling it."""
    made = await make.template(conn, project, slug=slug)
    version = await make.inserted(
        conn,
        "template_versions",
        {
            "template_id": made,
            "project_id": project,
            "version": 1,
            "status": "published",
            "created_by": "tests",
            "published_at": NOON,
        },
    )
    await conn.execute(
        "INSERT INTO mailqueue.template_texts"
        " (version_id, project_id, language, subject, text_body)"
        " VALUES (%s, %s, 'en', 'Hello', 'Hello')",
        (version, project),
    )


async def sequence(
    conn: Conn,
    project: UUID,
    *steps: Mapping[str, object],
    name: str = "onboarding",
    is_published: bool = True,
    **given: object,
) -> UUID:
    """Add a sequence and publish it; return its id."""
    found = await make.scalar(
        conn,
        "SELECT mailqueue.put_sequence(%s, %s, %s, true, 'tests')",
        project,
        name,
        Jsonb({"steps": steps or (WELCOME, TIPS, OFFER), **given}),
    )
    if is_published:
        await publish(conn, project, name)
    return UUID(str(found))


async def publish(conn: Conn, project: UUID, name: str = "onboarding") -> int:
    """Publish the draft of a sequence; return its version."""
    query = "SELECT mailqueue.publish_sequence(%s, %s, 'tests')"
    return int(await make.scalar(conn, query, project, name))


async def contact(conn: Conn, project: UUID, email: str = "ann@example.com", **given: Any) -> UUID:
    """Add a contact; return its id."""
    found = await people.put(conn, project, email, must_be_new=True, **given)
    assert found is not None
    return UUID(found["id"])


async def enroll(
    conn: Conn,
    project: UUID,
    contact_id: UUID,
    *,
    name: str = "onboarding",
    at: datetime = NOON,
    is_test: bool = False,
    variables: Mapping[str, object] | None = None,
) -> tuple[UUID | None, str]:
    """Enroll a contact at a time; return the enrollment and the outcome."""
    found = await make.rows(
        conn,
        "SELECT enrollment_id, outcome"
        " FROM mailqueue.enroll_contact(%s, %s, %s, %s, %s, 'tests', %s)",
        project,
        name,
        contact_id,
        Jsonb(variables or {}),
        is_test,
        at,
    )
    return found[0][0], found[0][1]


async def turn(conn: Conn, now: datetime) -> list[tuple[UUID, str]]:
    """Handle every row that is due at a time, as a worker does; return what became of each."""
    done: list[tuple[UUID, str]] = []
    for _ in range(1_000):
        due = await make.rows(
            conn,
            "SELECT id FROM mailqueue.sequence_enrollments WHERE status = 'pending'"
            " AND run_at <= %s ORDER BY run_at, id LIMIT 1",
            now,
        )
        if not due:
            return done
        one = (
            await make.rows(
                conn,
                "SELECT outcome, run_at, reason FROM mailqueue.advance_enrollment(%s, %s)",
                due[0][0],
                now,
            )
        )[0]
        await conn.execute(
            "UPDATE mailqueue.sequence_enrollments SET status = %s, run_at = coalesce(%s, run_at),"
            " last_error = %s, finished_at = CASE WHEN %s THEN %s::timestamptz END WHERE id = %s",
            (
                one[0] if one[0] in ("held", "left", "completed") else "pending",
                one[1],
                one[2],
                one[0] in ("left", "completed"),
                now,
                due[0][0],
            ),
        )
        assert one[0] not in ("retry", "defer"), one[2]
        done.append((due[0][0], one[0]))
    raise AssertionError("rows stay due")


async def steps_of(conn: Conn, enrollment_id: UUID | None) -> list[tuple[str, str, datetime]]:
    """Return what an enrollment did: step, result and time."""
    return await make.rows(
        conn,
        "SELECT step, result, done_at FROM mailqueue.enrollment_steps"
        " WHERE enrollment_id = %s ORDER BY number",
        enrollment_id,
    )


async def state_of(conn: Conn, enrollment_id: UUID | None) -> tuple[Any, ...]:
    """Return state, reason and next step of an enrollment, as people see them."""
    query = "SELECT state, reason, step FROM mailqueue.enrollments WHERE id = %s"
    return (await make.rows(conn, query, enrollment_id))[0]


async def mails(conn: Conn) -> list[str]:
    """Return recipients of queued mail of sequences with the step, oldest first."""
    query = (
        "SELECT recipient_email || ' ' || (custom_data ->> 'sequence_step')"
        " FROM mailqueue.email_queue WHERE custom_data ? 'enrollment_id' ORDER BY id"
    )
    return [row[0] for row in await make.rows(conn, query)]


Steps = Sequence[Mapping[str, object]]
