"""Cancelling a schedule whose emails wait for their time: cancelled or sent, as the answer says."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from mailqueue.db.fetch import Conn
from tests import make
from tests.schedules import turning

pytestmark = pytest.mark.anyio
SOON = (datetime.now(UTC) + timedelta(days=1)).isoformat()
WORDS = {"subject": "Hello", "text_body": "Hello"}


async def _ran(conn: Conn, to: list[Any], **given: Any) -> UUID:
    """Add a schedule, and make the emails of its run; return its id."""
    made = await turning.put(conn, payload={"to": to} | WORDS, **given)
    await conn.execute("UPDATE mailqueue.schedules SET run_at = now()")
    await turning.turn(conn)
    await turning.make_runs(conn)
    return made


async def _cancelled(conn: Conn, schedule_id: UUID) -> tuple[Any, ...]:
    project = await make.project_named(conn)
    (found,) = await make.rows(
        conn, "SELECT * FROM mailqueue.cancel_schedule(%s, %s, 'tests')", project, schedule_id
    )
    return found


async def _waiting(conn: Conn) -> list[str]:
    query = "SELECT recipient_email FROM mailqueue.email_queue WHERE NOT is_cancelled ORDER BY 1"
    return [row[0] for row in await make.rows(conn, query)]


async def test_emails_on_clocks_that_have_not_reached_the_time_are_not_sent(conn: Conn) -> None:
    to = [
        {"email": "apia@example.com", "timezone": "Pacific/Apia"},
        {"email": "lima@example.com", "timezone": "America/Lima"},
    ]
    made = await _ran(conn, to, schedule_type="local", run_at="2030-06-01T09:00:00")
    assert (await turning.row_of(conn, made))["status"] == "completed"
    # The time has come in Apia.
    await conn.execute(
        "UPDATE mailqueue.email_queue SET run_at = now() WHERE recipient_email LIKE 'apia%'"
    )

    assert await _cancelled(conn, made) == ("cancelled", 1, 2, 1)

    assert await _waiting(conn) == ["apia@example.com"]
    (run,) = await turning.runs_of(conn, made)
    assert (run["status"], run["last_error"]) == ("cancelled", "cancelled by tests")
    assert (await turning.row_of(conn, made))["status"] == "cancelled"
    detail = "SELECT detail ->> 'cancelled_emails' FROM mailqueue.audit_events"
    assert await make.scalar(conn, f"{detail} WHERE action = 'schedule.cancelled'") == "1"
    assert await _cancelled(conn, made) == ("cancelled", 1, 2, 0), "nothing is left"


async def test_emails_later_in_the_window_of_a_run_are_not_sent(conn: Conn) -> None:
    to = [f"n{n}@example.com" for n in range(20)]
    given = {"schedule_type": "once", "run_at": SOON, "spread_seconds": 600_000}
    made = await _ran(conn, to, **given)
    await conn.execute(
        "UPDATE mailqueue.email_queue SET run_at = now() WHERE recipient_email = 'n7@example.com'"
    )
    assert await _cancelled(conn, made) == ("cancelled", 1, 20, 19)
    assert await _waiting(conn) == ["n7@example.com"]


async def test_an_email_that_is_tried_again_later_is_not_cancelled(conn: Conn) -> None:
    made = await _ran(conn, ["ann@example.com"], schedule_type="once", run_at=SOON)
    await conn.execute("UPDATE mailqueue.email_queue SET run_at = now() + interval '1 h'")
    assert await _cancelled(conn, made) == ("completed", 1, 1, 0)
    assert await _waiting(conn) == ["ann@example.com"]


async def test_a_run_that_is_being_made_ends_with_what_it_had_queued(conn: Conn) -> None:
    to = [f"n{n}@example.com" for n in range(150)]
    given: dict[str, Any] = {"schedule_type": "once", "run_at": SOON, "spread_seconds": 600_000}
    made = await turning.put(conn, payload={"to": to} | WORDS, **given)
    await conn.execute("UPDATE mailqueue.schedules SET run_at = now()")
    await turning.turn(conn)
    worker = await make.worker(conn)
    await conn.execute(
        "UPDATE mailqueue.schedule_runs SET status = 'assigned', claim_no = 7, worker_id = %s,"
        " lease_until = now() + interval '1 min', assigned_at = now()",
        [worker],
    )
    step = "SELECT mailqueue.continue_schedule_run(id, 7, 100) FROM mailqueue.schedule_runs"
    assert await make.scalar(conn, step) == "more"

    assert await _cancelled(conn, made) == ("cancelled", 1, 100, 100)

    assert [await make.scalar(conn, step) for _ in range(2)] == ["more", "cancelled"]
    assert await _waiting(conn) == []


async def test_many_emails_are_cancelled_by_workers_a_batch_at_a_time(conn: Conn) -> None:
    to = [f"n{n}@example.com" for n in range(120)]
    given = {"schedule_type": "once", "run_at": SOON, "spread_seconds": 600_000}
    made = await _ran(conn, to, **given)
    await conn.execute("UPDATE mailqueue.schedule_runs SET queued = 10001")

    assert await _cancelled(conn, made) == ("cancelled", 1, 10001, None)
    assert len(await _waiting(conn)) == 120, "a worker cancels them"
    assert await _cancelled(conn, made) == ("cancelled", 1, 10001, 0), "it is asked once"

    assert await turning.make_runs(conn, end="cancelled") == 2
    assert await _waiting(conn) == []
