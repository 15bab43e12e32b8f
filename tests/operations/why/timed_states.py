"""How to bring schedules, enrollments and timed events into each state that is explained."""

from collections.abc import Awaitable, Callable
from uuid import UUID

from mailqueue.core.queues.registry import queue_named
from mailqueue.db.fetch import Conn
from tests import make
from tests.queue.kernel.kinds import KINDS
from tests.schedules import turning
from tests.sequences import running

Build = Callable[[Conn], Awaitable[UUID]]
HELD_BY = (
    "status = 'assigned', claim_no = 1, worker_id = %(worker)s, assigned_at = now(),"
    " lease_until = now()"
)
ENDED = "finished_at = now(), last_error = 'a reason'"


def row(queue: str, assignments: str, *, is_silent: bool = False) -> Build:
    """Return the row of a queue with some columns changed."""

    async def build(conn: Conn) -> UUID:
        async with KINDS[queue](conn, 1) as made:
            found = made.ids[0]
        worker = await make.worker(conn, kind="other", queues=["other"])
        if is_silent:
            await make.silent(conn, worker)
        await conn.execute(
            f"UPDATE mailqueue.{queue_named(queue).table} SET {assignments}"
            " WHERE id = %(id)s".encode(),
            {"worker": worker, "id": found},
        )
        return found

    return build


async def paused_schedule(conn: Conn) -> UUID:
    made = await turning.put(conn, "digest", schedule_type="cron", cron_expression="0 9 * * *")
    await conn.execute("SELECT mailqueue.pause_schedule('default', 'digest')")
    return made


async def refused_event(conn: Conn) -> UUID:
    found = await row("timed-events", "run_at = now() - interval '1 h'")(conn)
    await conn.execute("SELECT mailqueue.note_refused_row('timed_events', %s, 'x')", (found,))
    return found


async def delivering_event(conn: Conn) -> UUID:
    return await row(
        "timed-events",
        "status = 'delivering', template = NULL, webhook_id = gen_random_uuid(),"
        " delivery_id = gen_random_uuid()",
    )(conn)


def enrollment(change: str | None = None) -> Build:
    """Return an enrollment that waits for its first step, after a statement."""

    async def build(conn: Conn) -> UUID:
        project = await running.project_with_template(conn)
        await running.sequence(conn, project)
        ann, _ = await running.enroll(conn, project, await running.contact(conn, project))
        assert ann is not None
        if change is not None:
            await conn.execute(change.encode())
        return ann

    return build


TIMED: dict[tuple[str, str], Build] = {
    ("schedule", "pending"): row("schedules", "run_at = now() + interval '1 h'"),
    ("schedule", "no_worker"): row("schedules", "plan_after = NULL"),
    ("schedule", "paused"): paused_schedule,
    ("schedule", "completed"): row("schedules", f"status = 'completed', {ENDED}"),
    ("schedule", "cancelled"): row("schedules", f"status = 'cancelled', {ENDED}"),
    ("schedule", "failed"): row("schedules", f"status = 'failed', {ENDED}"),
    ("enrollment", "active"): enrollment(),
    ("enrollment", "paused"): enrollment(
        "SELECT mailqueue.pause_sequence(project_id, name, true) FROM mailqueue.sequences"
    ),
    ("enrollment", "completed"): enrollment(
        "UPDATE mailqueue.sequence_enrollments SET status = 'completed', finished_at = now()"
    ),
    ("enrollment", "left"): enrollment(
        "SELECT mailqueue.unenroll('onboarding', 'ann@example.com')"
    ),
    ("enrollment", "failed"): enrollment(
        f"UPDATE mailqueue.sequence_enrollments SET status = 'failed', {ENDED}"
    ),
    ("timed_event", "pending"): row(
        "timed-events", "run_at = now() + interval '1 h', due_at = now() + interval '1 h'"
    ),
    ("timed_event", "refused"): refused_event,
    ("timed_event", "no_worker"): row("timed-events", "run_at = now() - interval '1 h'"),
    ("timed_event", "assigned"): row("timed-events", HELD_BY),
    ("timed_event", "silent"): row("timed-events", HELD_BY, is_silent=True),
    ("timed_event", "delivering"): delivering_event,
    ("timed_event", "completed"): row(
        "timed-events", "status = 'completed', email_id = gen_random_uuid(), finished_at = now()"
    ),
    ("timed_event", "failed"): row("timed-events", f"status = 'failed', {ENDED}"),
    ("timed_event", "cancelled"): row("timed-events", f"status = 'cancelled', {ENDED}"),
}
