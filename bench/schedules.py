"""Measures schedules: what is not due costs nothing, what is due becomes queued mail, crons idle.

The workers are the shipped processes; nothing is sent.
"""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import click

from bench.cpu import spending
from bench.report import Report
from bench.server import Server, make_database, own_server, settle_down
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings

PROJECTS = 10
ADD_PROJECTS = """
    INSERT INTO mailqueue.projects (name) SELECT 'bench' || n FROM generate_series(1, %s) AS n
"""
ADD = """
    INSERT INTO mailqueue.schedules (project_id, schedule_type, once_at, cron_expression, message,
        recipients, created_by, next_run_at, next_local, run_at, zone_release)
    SELECT p.id, %(kind)s, CASE %(kind)s WHEN 'once' THEN d.at END,
           CASE %(kind)s WHEN 'cron' THEN '0 9 1 1 *' END,
           '{"subject": "Hello", "text": "Hello"}',
           jsonb_build_array(jsonb_build_object('email', 'person' || n || '@example.com')),
           'bench', d.at, d.at AT TIME ZONE 'UTC', d.at, mailqueue.time_zone_release()
      FROM generate_series(1, %(count)s) AS n
      JOIN (SELECT id, row_number() OVER (ORDER BY id) AS place FROM mailqueue.projects
             WHERE name LIKE 'bench%%') AS p ON p.place = 1 + n %% %(projects)s
     CROSS JOIN LATERAL (SELECT clock_timestamp() + %(ahead)s::interval
                                + n * interval '1 millisecond' AS at) AS d
"""
LIST = """
    WITH added AS (
        INSERT INTO mailqueue.contacts (project_id, email, email_key, first_name, created_at)
        SELECT p.id, e.address, e.address, 'Ann', now() - interval '1 day'
          FROM mailqueue.projects AS p, generate_series(1, %s) AS n,
               LATERAL (SELECT 'person' || n || '@example.com' AS address) AS e
         WHERE p.name = 'bench1' RETURNING id, project_id
    ), listed AS (
        INSERT INTO mailqueue.contact_lists (project_id, name, created_by)
        SELECT p.id, 'everyone', 'bench' FROM mailqueue.projects AS p WHERE p.name = 'bench1'
        RETURNING id
    )
    INSERT INTO mailqueue.contact_list_members (list_id, contact_id, project_id, created_at)
    SELECT l.id, a.id, a.project_id, now() - interval '1 day' FROM added AS a, listed AS l
"""
RUN = """
    SELECT mailqueue.run_schedule(p.id, mailqueue.add_schedule(p.id, 'bench', jsonb_build_object(
               'schedule_type', 'cron', 'cron_expression', '0 9 1 1 *', 'payload', %s::jsonb),
               'bench'), 'bench')
      FROM mailqueue.projects AS p WHERE p.name = 'bench1'
"""
PAYLOAD = '{"to": ["everyone"], "subject": "Hello", "text": "Hello"}'
DONE = "SELECT coalesce(sum(queued), 0) FROM mailqueue.schedule_runs WHERE status = 'done'"
MADE = "SELECT count(*) FROM mailqueue.schedule_runs"
MAIL = "SELECT count(*) FROM mailqueue.email_queue"
MAIL_EXISTS = "SELECT count(*) FROM (SELECT FROM mailqueue.email_queue LIMIT 1) AS q"
RUNNING = (
    "SELECT count(*) FROM mailqueue.workers WHERE beat_at > clock_timestamp() - interval '9 s'"
)
IDLE_SECONDS = 20.0


@asynccontextmanager
async def working(database: DatabaseSettings, count: int) -> AsyncIterator[list[int]]:
    """Run that many workers of schedules while the block runs; yield their process ids."""
    environment = os.environ | {
        "MAILQUEUE_DATABASE_URL": database.url.reveal(),
        "MAILQUEUE_LOG_LEVEL": "warning",
    }
    command = (sys.executable, "-m", "mailqueue", "worker", "schedules", "schedule-runs")
    workers = [
        await asyncio.create_subprocess_exec(*command, env=environment) for _ in range(count)
    ]
    try:
        yield [worker.pid for worker in workers]
    finally:
        for worker in workers:
            worker.terminate()
        await asyncio.gather(*(worker.wait() for worker in workers))


async def add(conn: Conn, kind: str, count: int, ahead: str) -> None:
    """Add schedules with one recipient each, due after a span."""
    values = {"kind": kind, "count": count, "projects": PROJECTS, "ahead": ahead}
    await conn.execute(ADD.encode(), values)


async def idle(server: Server, name: str, *, kind: str, count: int) -> dict[str, float]:
    """Return the share of a core that workers and server need while schedules are far off."""
    database = await make_database(server, name)
    async with connect(database, application_name="bench") as conn:
        await conn.execute(ADD_PROJECTS.encode(), (PROJECTS,))
        await add(conn, kind, count, "30 days")
        async with working(database, 1) as workers:
            await _until_running(conn)
            await asyncio.sleep(10)  # its poll interval has grown
            await settle_down(server, name)
            roots = {"postgres": server.pid, "worker": workers[0]}
            with spending(roots) as spent:
                await asyncio.sleep(IDLE_SECONDS)
    used = {f"{name} %": 100 * one / IDLE_SECONDS for name, one in spent.seconds.items()}
    return {**used, "core %": sum(used.values()), "others %": 100 * spent.others_share}


async def due(server: Server, name: str, *, count: int, beside: int) -> dict[str, float]:
    """Return how many schedules a second become queued mail that are due together.

    `beside` are due next month.
    """
    database = await make_database(server, name)
    async with connect(database, application_name="bench") as conn:
        await conn.execute(ADD_PROJECTS.encode(), (PROJECTS,))
        await add(conn, "once", beside, "30 days")
        await settle_down(server, name)
        await add(conn, "once", count, "-2 minutes")
        return await _until_made(server, database, conn, MADE, count=count)


async def listed(server: Server, name: str, *, count: int) -> dict[str, float]:
    """Return how many contacts a second of a list become queued mail in one run."""
    database = await make_database(server, name)
    async with connect(database, application_name="bench") as conn:
        await conn.execute(ADD_PROJECTS.encode(), (PROJECTS,))
        await conn.execute(LIST.encode(), (count,))
        await settle_down(server, name)
        await conn.execute(RUN.encode(), (PAYLOAD,))
        return await _until_made(server, database, conn, DONE, count=count)


async def _until_made(
    server: Server, database: DatabaseSettings, conn: Conn, question: str, *, count: int
) -> dict[str, float]:
    """Return what a worker costs, from its start until a query counts that many."""
    begun = time.monotonic()
    async with working(database, 1) as workers:
        roots = {"postgres": server.pid, "worker": workers[0]}
        with spending(roots) as spent:
            first = begun
            while await _count(conn, question) < count:
                first = first if await _count(conn, MAIL_EXISTS) else time.monotonic()
                await asyncio.sleep(0.2)
            seconds = time.monotonic() - first
    mail = await _count(conn, MAIL)
    assert mail == count, f"{mail} mails of {count}"
    used = {f"{name} µs": 1e6 * one / count for name, one in spent.seconds.items()}
    return {"queued/s": count / seconds, **used, "others %": 100 * spent.others_share}


async def _until_running(conn: Conn) -> None:
    while True:
        if await _count(conn, RUNNING):
            return
        await asyncio.sleep(0.2)


async def _count(conn: Conn, query: str) -> int:
    row: Sequence[Any] | None = await (await conn.execute(query.encode())).fetchone()
    assert row is not None, "a count has a row"
    return int(row[0])


@click.command()
@click.option("--far", default=1_000_000, show_default=True, help="Schedules due next month.")
@click.option(
    "--due", "due_now", default=100_000, show_default=True, help="Schedules due at once, or 0."
)
@click.option("--crons", default=10_000, show_default=True, help="Cron schedules that idle, or 0.")
@click.option(
    "--contacts", default=100_000, show_default=True, help="Contacts of one run's list, or 0."
)
@click.option("--repeat", default=1, show_default=True)
@click.option("--json", type=click.Path(path_type=Path), help="Write all figures here.")
def main(**asked: Any) -> None:
    """Measure what schedules cost before they are due, and how fast they become mail."""
    asyncio.run(_measure(**asked))


async def _measure(
    *, far: int, due_now: int, crons: int, contacts: int, repeat: int, json: Path | None
) -> None:
    async with own_server() as server:
        report = Report("schedules", {**server.settings, "far": far, "due": due_now})
        for run in range(repeat):
            if crons:
                found = await idle(server, f"none_{run}", kind="once", count=0)
                report.add("no schedule", found)
                found = await idle(server, f"far_{run}", kind="once", count=far)
                report.add(f"{far} due next month", found)
                found = await idle(server, f"crons_{run}", kind="cron", count=crons)
                report.add(f"{crons} cron schedules", found)
            if due_now:
                found = await due(server, f"due_{run}", count=due_now, beside=far)
                report.add(f"{due_now} due together", found)
            if contacts:
                found = await listed(server, f"listed_{run}", count=contacts)
                report.add(f"a list of {contacts}", found)
    report.print()
    report.write(json)


if __name__ == "__main__":
    main()
