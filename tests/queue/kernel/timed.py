"""A few rows of each queue that works at a time or over time."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

from mailqueue.contacts.sends import sending
from mailqueue.contacts.sends.model import ListSend
from mailqueue.core.queues.registry import queue_named
from mailqueue.db.fetch import Conn
from tests import make
from tests.contacts import people
from tests.queue.kernel.rows import DONE, Rows, ids_of
from tests.schedules import turning
from tests.sequences import running
from tests.timed_events import events as timed

RECIPIENTS = 600
"""Recipients of each run of a schedule: more than its worker takes in one part."""


@asynccontextmanager
async def timed_events(conn: Conn, count: int) -> AsyncIterator[Rows]:
    """Put events of addresses of their own, each of which becomes exactly one mail."""
    await timed.template(conn)
    for number in range(count):
        await conn.execute(
            "SELECT mailqueue.put_timed_event('renewal', now(), template => 'welcome',"
            " recipient => %s)",
            (f"person{number}@example.com",),
        )

    async def check(_doubtful: int) -> None:
        found = await make.rows(
            conn,
            "SELECT e.recipient_email, count(*), bool_and(e.id = t.email_id)"
            " FROM mailqueue.emails AS e JOIN mailqueue.timed_events AS t"
            " ON t.id = (e.custom_data ->> 'timed_event_id')::uuid GROUP BY 1",
        )
        assert len(found) == count, "each became mail"
        assert {row[1:] for row in found} == {(1, True)}, "none twice"

    spec = queue_named("timed-events")
    yield Rows(spec, await ids_of(conn, spec), check, DONE)


@asynccontextmanager
async def schedules(conn: Conn, count: int) -> AsyncIterator[Rows]:
    """Create schedules that are due once; each makes one mail."""
    later = datetime.now(UTC) + timedelta(days=1)
    for number in range(count):
        to = {"to": [f"person{number}@example.com"]}
        made = await turning.put(
            conn, schedule_type="once", run_at=later.isoformat(), payload=turning.RAW | to
        )
        await turning.due(conn, made)

    async def check(_doubtful: int) -> None:
        found = await make.rows(
            conn,
            "SELECT count(*), count(DISTINCT recipient_email),"
            " (SELECT count(*) FROM mailqueue.schedule_runs WHERE status = 'done'),"
            " (SELECT count(*) FROM mailqueue.batches) FROM mailqueue.email_queue",
        )
        assert found == [(count, count, count, count)]

    spec = queue_named("schedules")
    yield Rows(spec, await ids_of(conn, spec), check, DONE)


@asynccontextmanager
async def schedule_runs(conn: Conn, count: int) -> AsyncIterator[Rows]:
    """Create runs with more recipients than a part; each recipient gets one mail of each."""
    project = await make.project_named(conn)
    yearly = {"schedule_type": "cron", "cron_expression": "0 9 1 1 *"}
    to = {"to": [f"person{number}@example.com" for number in range(RECIPIENTS)]}
    for _ in range(count):
        made = await turning.put(conn, **yearly, payload=turning.RAW | to)
        await make.rows(conn, "SELECT mailqueue.run_schedule(%s, %s)", project, made)

    async def check(_doubtful: int) -> None:
        found = await make.rows(
            conn,
            "SELECT count(*), count(DISTINCT recipient_email),"
            " (SELECT sum(queued) FROM mailqueue.schedule_runs WHERE status = 'done'),"
            " (SELECT sum(cardinality(email_ids)) FROM mailqueue.batches)"
            " FROM mailqueue.email_queue",
        )
        assert found == [(count * RECIPIENTS, RECIPIENTS, count * RECIPIENTS, count * RECIPIENTS)]

    spec = queue_named("schedule-runs")
    yield Rows(spec, await ids_of(conn, spec), check, DONE)


@asynccontextmanager
async def sequences(conn: Conn, count: int) -> AsyncIterator[Rows]:
    """Enroll contacts in a sequence of three steps, each of which makes one mail, in order."""
    project_id = await running.project_with_template(conn)
    steps = [{"name": name, "template": "hello"} for name in ("one", "two", "three")]
    await running.sequence(conn, project_id, *steps)
    for number in range(count):
        await conn.execute(
            "SELECT mailqueue.enroll('onboarding', %s)", (f"person{number}@example.com",)
        )

    async def check(_doubtful: int) -> None:
        expected = [
            f"person{number}@example.com {step['name']}"
            for number in range(count)
            for step in steps
        ]
        assert sorted(await running.mails(conn)) == sorted(expected)
        done = "SELECT array_agg(step ORDER BY number) FROM mailqueue.enrollment_steps"
        found = await make.rows(conn, f"{done} GROUP BY enrollment_id")
        assert found == [(["one", "two", "three"],)] * count

    spec = queue_named("sequences")
    yield Rows(spec, await ids_of(conn, spec), check, DONE)


@asynccontextmanager
async def list_sends(conn: Conn, count: int) -> AsyncIterator[Rows]:
    """Send to lists of two contacts each; every contact gets one mail."""
    project = await make.project_named(conn)
    emails = []
    for number in range(count):
        names = [f"{name}{number}@example.com" for name in ("ann", "bob")]
        members = await people.added(conn, project, *names)
        await people.list_of(conn, project, f"news{number}", members=members)
        send = ListSend(f"news{number}", {"subject": "Hello", "text": "Hello"})
        await sending.begin(conn, project, send, by="tests")
        emails += names

    async def check(_doubtful: int) -> None:
        query = "SELECT recipient_email FROM mailqueue.emails WHERE subject = 'Hello' ORDER BY 1"
        assert await make.rows(conn, query) == [(each,) for each in sorted(emails)]
        progress = "SELECT DISTINCT contacts, accepted FROM mailqueue.list_sends"
        assert await make.rows(conn, progress) == [(2, 2)]

    spec = queue_named("list-sends")
    yield Rows(spec, await ids_of(conn, spec), check, DONE)
