"""Sequences and timed events in the console: what each contact got and gets next, and its end."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from mailqueue.contract.automation.timed_events import TimedEvent
from mailqueue.db.fetch import Conn
from mailqueue.timed_events import events
from tests import make
from tests.console.visiting import Visiting, Visitor
from tests.sequences import running

pytestmark = pytest.mark.anyio

PROJECT = "/console/projects/default"
ONBOARDING = f"{PROJECT}/sequences/onboarding"
EVENTS = f"{PROJECT}/timed-events"


@pytest.fixture
async def visitor(console: Visiting) -> AsyncIterator[Visitor]:
    """A project admin of the default project."""
    async with console.visitor() as visitor:
        await console.add_user("ann", "project_admin", "default")
        await visitor.log_in("ann")
        yield visitor


async def enrolled(conn: Conn) -> UUID:
    """Enroll ann, and do the first step; return the enrollment."""
    project = await running.project_with_template(conn)
    await running.sequence(conn, project)
    ann = await running.contact(conn, project)
    found, _ = await running.enroll(conn, project, ann)
    assert found is not None
    await running.turn(conn, running.NOON)
    return found


async def renewal(conn: Conn, project: UUID) -> TimedEvent:
    made = await events.put(
        conn,
        project,
        kind="renewal",
        at=datetime.now(UTC) + timedelta(days=1),
        payload={},
        template="hello",
        recipient="ann@example.com",
        is_test=False,
        by="tests",
    )
    return made.event


async def test_an_enrollment_says_what_was_sent_and_what_is_next(
    console: Visiting, visitor: Visitor
) -> None:
    async with console.connection() as conn:
        found = await enrolled(conn)
    listed = (await visitor.get(f"{PROJECT}/sequences")).text
    sequence = (await visitor.get(ONBOARDING)).text
    one = (await visitor.get(f"{ONBOARDING}/enrollments/{found}")).text
    other = await visitor.get(f"{PROJECT}/sequences/another/enrollments/{found}")

    assert "onboarding" in listed
    assert "next <bdi>tips</bdi>" in sequence
    assert "Next is step <bdi>tips</bdi>, due at" in one
    assert "2026-05-06 09:00 UTC" in one
    assert "email queued" in one
    assert other.status_code == 404


async def test_enrollments_are_found_by_address_and_state(
    console: Visiting, visitor: Visitor
) -> None:
    async with console.connection() as conn:
        found = await enrolled(conn)
    row = f"enrollments/{found}"
    for query, is_listed in (
        ("email=ANN@example.com", True),
        ("email=ben@example.com", False),
        ("state=active", True),
        ("state=left", False),
        ("state=strange", False),
        ("email=no-address", False),
    ):
        assert (row in (await visitor.get(f"{ONBOARDING}?{query}")).text) is is_listed, query
    assert "Nothing is listed" in (await visitor.get(f"{ONBOARDING}?state=strange")).text


async def test_a_paused_sequence_does_no_step_until_it_is_resumed(
    console: Visiting, visitor: Visitor
) -> None:
    async with console.connection() as conn:
        await enrolled(conn)
        asked = (await visitor.get(f"{ONBOARDING}/pause")).text
        for act, is_paused in (("pause", True), ("resume", False)):
            path = f"{ONBOARDING}/{act}"
            assert (await visitor.submit(path, path)).status_code == 303
            query = "SELECT paused_at IS NOT NULL FROM mailqueue.sequences"
            assert await make.scalar(conn, query) is is_paused

    assert "1 contact waits for a step" in asked


async def test_an_enrollment_that_is_ended_does_no_further_step(
    console: Visiting, visitor: Visitor
) -> None:
    async with console.connection() as conn:
        path = f"{ONBOARDING}/enrollments/{await enrolled(conn)}"
        fields = await visitor.form(f"{path}/end", f"{path}/end")
        first = await visitor.post(f"{path}/end", fields)
        again = await visitor.post(f"{path}/end", fields)
        shown = (await visitor.get(first.headers["location"])).text
        await running.turn(conn, running.NOON + timedelta(days=30))
        sent = await make.scalar(conn, "SELECT count(*) FROM mailqueue.enrollment_steps")
        query = "SELECT actor FROM mailqueue.audit_events WHERE action = 'enrollment.ended'"
        actor = await make.scalar(conn, query)

    assert again.headers["location"].endswith("done=before")
    assert "It left before step <bdi>tips</bdi>: removed" in shown
    assert sent == 1
    assert "ann (console)" in actor


async def test_a_timed_event_is_found_by_state_and_kind_and_cancelled_once(
    console: Visiting, visitor: Visitor
) -> None:
    async with console.connection() as conn:
        project = await running.project_with_template(conn)
        made = await renewal(conn, project)
        pending = (await visitor.get(f"{EVENTS}?status=PENDING&kind=renewal")).text
        path = f"{EVENTS}/{made.id}"
        fields = await visitor.form(f"{path}/cancel", f"{path}/cancel")
        first = await visitor.post(f"{path}/cancel", fields)
        again = await visitor.post(f"{path}/cancel", fields)
        shown = (await visitor.get(first.headers["location"])).text
        query = "SELECT status FROM mailqueue.timed_events WHERE id = %s"
        status = await make.scalar(conn, query, made.id)
        actor = await make.scalar(
            conn, "SELECT actor FROM mailqueue.audit_events WHERE action = 'timed_event.cancelled'"
        )
    failed = (await visitor.get(f"{EVENTS}?status=FAILED")).text

    assert str(made.id) in pending
    assert again.headers["location"].endswith("done=before")
    assert "Nothing more is done for it" in shown
    assert status == "cancelled"
    assert "ann (console)" in actor
    assert str(made.id) in failed
    assert "Nothing is listed" in (await visitor.get(f"{EVENTS}?status=strange")).text


async def test_an_event_that_is_done_meanwhile_is_not_cancelled(
    console: Visiting, visitor: Visitor
) -> None:
    async with console.connection() as conn:
        made = await renewal(conn, await running.project_with_template(conn))
        path = f"{EVENTS}/{made.id}/cancel"
        fields = await visitor.form(path, path)
        await conn.execute(
            "UPDATE mailqueue.timed_events SET status = 'completed', finished_at = now()"
        )
        refused = await visitor.post(path, fields)

    assert refused.status_code == 422
    assert "Cancel the event" in refused.text
