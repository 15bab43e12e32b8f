"""`mailqueue.why` tells in plain words what a timed event waits for, and what became of it."""

from datetime import UTC, datetime
from uuid import UUID

import pytest
from psycopg import errors

from mailqueue.db.fetch import Conn
from tests import make
from tests.operations.why.commands import why
from tests.timed_events import events

pytestmark = pytest.mark.anyio


async def put(conn: Conn) -> UUID:
    await events.template(conn)
    found: UUID = await make.scalar(
        conn,
        "SELECT mailqueue.put_timed_event('renewal', local_at => '2050-05-31 09:00',"
        " time_zone => 'Europe/Berlin', template => 'welcome', recipient => 'ann@example.com')",
    )
    return found


async def test_it_tells_when_an_event_is_due_and_which_mail_it_became(conn: Conn) -> None:
    event_id = await put(conn)
    assert await why(conn, event_id) == (
        "timed event renewal, not due before 2050-05-31 07:00:00 UTC"
        " (2050-05-31 09:00 in Europe/Berlin); to see it: mailqueue timed-event show"
        f" {event_id}; to give it up: mailqueue timed-event cancel {event_id}"
    )

    await events.make_due(conn)
    await events.fire(conn)

    email = await make.scalar(conn, "SELECT email_id FROM mailqueue.timed_events")
    said = await why(conn, event_id)
    assert said.startswith("timed event renewal, completed at ")
    assert f": its mail is {email}; " in said


async def test_it_tells_why_an_event_is_retried_failed_and_was_cancelled(conn: Conn) -> None:
    event_id = await put(conn)
    past = datetime(2026, 5, 1, tzinfo=UTC)
    await conn.execute(
        "UPDATE mailqueue.timed_events SET template = 'gone', due_at = %s WHERE id = %s",
        (past, event_id),
    )
    await events.make_due(conn)
    await events.fire(conn)
    said = await why(conn, event_id)
    assert said.startswith("timed event renewal, due since 2026-05-01 00:00:00 UTC, next attempt")
    assert "gone" in said

    for _ in range(3):
        await events.make_due(conn)
        await events.fire(conn)
    said = await why(conn, event_id)
    assert " after 4 attempts: " in said
    assert said.endswith(f"; to fire it again: mailqueue queue requeue {event_id}")


async def test_an_event_of_another_project_is_not_explained(conn: Conn) -> None:
    event_id = await put(conn)
    other = await make.project(conn, "other")
    await conn.execute("SELECT set_config('mailqueue.project', %s, true)", [str(other)])

    with pytest.raises(errors.InsufficientPrivilege):
        await why(conn, event_id)
